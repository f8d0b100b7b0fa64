import { KINDS } from '../../mapping/index.ts'
import { anySource } from './documents.ts'
import {
  closed,
  described,
  flag,
  listOf,
  mapOf,
  number,
  oneOf,
  open,
  orNull,
  ref,
  type Schema,
  text,
  whole,
} from './schema.ts'

const object: Schema = { type: 'object' }
const shards = open({ total: whole, successful: whole, failed: whole }, { skipped: whole })
const kind = oneOf(KINDS)

const document = { _index: text, _type: kind, _id: text }

const hitOf = (source: Schema): Schema =>
  closed(
    { ...document, _score: orNull(number) },
    {
      _routing: text,
      _parent: text,
      _version: whole,
      _seq_no: whole,
      _primary_term: whole,
      _source: source,
      sort: { type: 'array' },
      fields: mapOf({ type: 'array' }),
      highlight: mapOf(listOf(text)),
      inner_hits: mapOf(closed({ hits: ref('InnerHits') })),
      matched_queries: listOf(text),
      _explanation: open({ value: number, description: text }),
      _nested: object,
    },
  )

/** Schemas of what is answered below `…/es`. */
export const answerSchemas = (): Record<string, Schema> => ({
  Error: {
    ...open({
      error: open(
        { type: described('What went wrong, as a name that does not change.', text), reason: text },
        {
          root_cause: listOf(open({ type: text, reason: text })),
          faults: described(
            'All faults of a body, each with its place.',
            listOf(closed({ path: text, message: text })),
          ),
        },
      ),
      status: described('The status of the answer.', whole),
    }),
    description: 'An error in Elasticsearch’s shape.',
  },
  Hit: hitOf(anySource),
  InnerHit: described('A document, or an element of a nested list in it.', hitOf(object)),
  InnerHits: open({ hits: listOf(ref('InnerHit')) }),
  Hits: closed(
    {
      hits: listOf(ref('Hit')),
    },
    {
      total: described(
        'A number at `search/`, as before version 7; an object at `_search`. Absent where hits are not counted.',
        { anyOf: [whole, closed({ value: whole, relation: oneOf(['eq', 'gte']) })] },
      ),
      max_score: orNull(number),
    },
  ),
  SearchAnswer: closed(
    { took: described('Milliseconds.', whole), timed_out: flag, _shards: shards, hits: ref('Hits') },
    {
      aggregations: described('What each aggregation found, by its name.', mapOf(object)),
      _scroll_id: text,
      pit_id: text,
      resume: object,
      terminated_early: flag,
    },
  ),
  RenderedTemplate: closed({ template_output: { type: 'object' } }),
  MultiSearchAnswer: closed({
    took: whole,
    responses: listOf({
      anyOf: [
        {
          type: 'object',
          properties: { took: whole, status: whole, hits: ref('Hits') },
          required: ['took', 'status', 'hits'],
        },
        ref('Error'),
      ],
    }),
  }),
  CountAnswer: closed({ count: whole, _shards: shards }),
  Document: closed(
    { ...document, found: flag },
    {
      ...{ _version: whole, _seq_no: whole, _primary_term: whole, _routing: text, _parent: text },
      _source: anySource,
    },
  ),
  Documents: closed({
    docs: listOf({ anyOf: [ref('Document'), { type: 'object', required: ['_id', 'error'] }] }),
  }),
  Source: anySource,
  Explanation: open({ _index: text, _type: kind, _id: text, matched: flag }, { explanation: object }),
  Validity: open({ valid: flag }, { _shards: shards, explanations: listOf(object), error: text }),
  Tokens: closed({
    tokens: listOf(closed({ token: text, start_offset: whole, end_offset: whole, type: text, position: whole })),
  }),
  Closed: closed({ succeeded: flag, num_freed: whole }),
  PointInTime: closed({ id: text }),
  OpenedPointInTime: closed({ pit_id: text, _shards: shards, creation_time: whole }),
  ClosedPointsInTime: closed({ pits: listOf(closed({ successful: flag, pit_id: text })) }),
  PointsInTime: closed({ pits: listOf(closed({ pit_id: text, creation_time: whole, keep_alive: whole })) }),
  ByIndex: described('By the name of each index.', mapOf(object)),
  FieldCapabilities: closed({ indices: listOf(text), fields: mapOf(mapOf(object)) }),
  ResolvedIndexes: closed({ indices: listOf(object), aliases: listOf(object), data_streams: listOf(object) }),
  Statistics: closed({ _shards: shards, _all: object, indices: mapOf(object) }),
  Shards: closed({ _shards: shards }),
  ClusterHealth: open({ cluster_name: text, status: oneOf(['green']), timed_out: flag, number_of_nodes: whole }),
  ClusterStatistics: open({ cluster_name: text, timestamp: whole, indices: object, nodes: object }),
  ClusterSettings: open({ persistent: object, transient: object }),
  Nodes: closed({ _nodes: shards, cluster_name: text, nodes: mapOf(object) }),
  SearchShards: closed({ nodes: mapOf(object), indices: mapOf(object), shards: listOf(listOf(object)) }),
  Suggestions: closed({
    took: whole,
    suggestions: listOf(
      closed({ text, kind: text, score: number }, { field: text, entity: text, address: text, name: orNull(text) }),
    ),
  }),
  Information: open({ name: text, cluster_name: text, version: open({ number: text }), tagline: text }),
  Table: described('Rows, with `format=json`.', listOf(mapOf(orNull(text)))),
})
