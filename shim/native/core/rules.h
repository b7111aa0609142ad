/* The pieces of the rules that more than one core file needs. Internal. */
#ifndef OLP_RULES_H
#define OLP_RULES_H

#include "olpick.h"

/* Whether a text is exactly a C string. */
int olp_text_is(olp_text text, const char *word);

/* Feature sets. */
olp_features olp_features_join(olp_features a, olp_features b);
olp_features olp_features_without(olp_features a, olp_features b);
int olp_features_none(olp_features a);
uint32_t olp_features_count(olp_features a);

/* The index of a level or CPU name, aliases applied, or OLP_CPU_UNKNOWN. */
int32_t olp_cpu_find(const char *name, uint64_t length);

/* The highest psABI level, 1 to 4, whose features are all in the set; 0 if not even the baseline's are. */
int32_t olp_level_of(olp_features features);

/* OLP-COMP-004 for an x86-64 Linux host: the whole triple; its architecture alone. A triple that is absent or empty is no x86-64 one. */
int olp_triple_is_host(olp_text triple);
int olp_triple_arch_is_x86_64(olp_text triple);

/* requires_features: OLP-COMP-008. 1 with the set of known tokens and whether one is unknown, 0 when malformed. */
int olp_parse_tokens(olp_text value, olp_features *tokens, int *unknown);

/* variant_priority: OLP-ORD-004. 1, or 0 when malformed. */
int olp_parse_priority(olp_text value, uint32_t *priority);

/* variant_tag: OLP-ORD-008. Higher is better; absent and unknown tags are equal. */
uint32_t olp_tag_value(olp_text value);

/* Section 3: verdict (eligible or rejected), reason, facts, findings, missing of one image. */
void olp_judge(const olp_image *image, const olp_device *device, olp_verdict *verdict);

/* Whether upstream's own check takes an image for an x86-64 host: OLP-POL-002. */
int olp_upstream_accepts(const olp_image *image);

/* Section 4: the step at which an eligible image a wins over b, or b over a; *winner is 1 when it is a. Never a tie: earlier wins. */
uint32_t olp_compare(const olp_image *images, const olp_verdict *verdicts, const olp_device *device, uint32_t a, uint32_t b, int *a_wins);

#endif
