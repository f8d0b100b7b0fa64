import type { BodyKey } from './parse.ts'

/** What the keys of a search's body mean, for the reference docs. */
export const BODY_KEYS: Record<BodyKey, { doc: string; limit?: string }> = {
  query: { doc: 'One clause; without it, everything is found.' },
  sort: {
    doc: 'Names of fields, with `order`, `missing`, `unmapped_type` and `mode`; `_doc` is the order of the chain.',
  },
  size: { doc: 'Number of hits, 10 by default; -1 for all, which Elasticsearch does not have.' },
  from: { doc: 'Number of hits to skip; `from` + `size` is 10,000 at most.' },
  _source: { doc: 'What is shown of a document.' },
  track_total_hits: {
    doc: 'Whether, or up to where, hits are counted. By default all are, where Elasticsearch stops at 10,000.',
  },
}
