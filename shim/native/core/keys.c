/* The values of an entry's keys: requires_features, variant_priority, variant_tag. */
#include <string.h>

#include "olpick_tables.h"
#include "rules.h"

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_token_char(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '.' || c == '_' || c == '-'; }

static int find_feature(const char *name, uint64_t length) {
  olp_text text = {name, length};
  for (uint32_t i = 0; i < OLP_FEATURE_COUNT; i++)
    if (olp_text_is(text, olp_feature_name(i)))
      return (int)i;
  return -1;
}

int olp_parse_tokens(olp_text value, olp_features *tokens, int *unknown) {
  memset(tokens, 0, sizeof *tokens);
  *unknown = 0;
  if (!value.size)
    return 1;

  const char *at = value.data, *end = value.data + value.size;
  for (;;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    const char *stop = comma ? comma : end;
    while (at < stop && is_blank(*at))
      at++;
    const char *last = stop;
    while (last > at && is_blank(last[-1]))
      last--;
    if (at == last)
      return 0;
    for (const char *c = at; c < last; c++)
      if (!is_token_char(*c))
        return 0;

    int feature = find_feature(at, (uint64_t)(last - at));
    if (feature < 0)
      *unknown = 1;
    else
      tokens->word[feature / 64] |= (uint64_t)1 << feature % 64;
    if (!comma)
      return 1;
    at = comma + 1;
  }
}

int olp_parse_priority(olp_text value, uint32_t *priority) {
  *priority = 0;
  if (value.size < 1 || value.size > 9) /* nine digits always fit */
    return 0;
  uint32_t number = 0;
  for (uint64_t i = 0; i < value.size; i++) {
    if (!is_digit(value.data[i]))
      return 0;
    number = number * 10 + (uint32_t)(value.data[i] - '0');
  }
  *priority = number;
  return 1;
}

uint32_t olp_tag_value(olp_text value) {
  static const char *const worst_first[] = {"debug", "fallback", "generic"};
  enum { UNKNOWN = 3, OPTIMIZED = 4 };
  if (olp_text_is(value, "optimized"))
    return OPTIMIZED;
  for (uint32_t i = 0; i < UNKNOWN; i++)
    if (olp_text_is(value, worst_first[i]))
      return i;
  return UNKNOWN;
}
