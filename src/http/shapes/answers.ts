import { KINDS } from '../../mapping/index.ts'
import { anySource } from '../openapi/documents.ts'
import {
  anyOf,
  anything,
  closed,
  described,
  flag,
  json,
  listOf,
  mapOf,
  may,
  named,
  number,
  object,
  oneOf,
  open,
  orNull,
  type Shape,
  text,
  whole,
} from './values.ts'

/** What is answered below `…/es`. */

const kind = oneOf(KINDS)
const shards = open({ total: whole, successful: whole, failed: whole, skipped: may(whole) })
const document = { _index: text, _type: kind, _id: text }
const anySourceShape = json<Record<string, unknown>>(anySource)

const hitOf = <S extends Shape>(own: S) =>
  closed({
    ...{ ...document, _score: orNull(number), _routing: may(text), _parent: may(text), _version: may(whole) },
    ...{ _seq_no: may(whole), _primary_term: may(whole), _source: may(own), sort: may(listOf(anything)) },
    ...{ fields: may(mapOf(listOf(anything))), highlight: may(mapOf(listOf(text))) },
    inner_hits: may(mapOf(closed({ hits: named('InnerHits') }))),
    matched_queries: may(listOf(text)),
    ...{ _explanation: may(open({ value: number, description: text })), _nested: may(object) },
  })

const error = described(
  'An error in Elasticsearch’s shape.',
  open({
    error: open({
      type: described('What went wrong, as a name that does not change.', text),
      reason: text,
      root_cause: may(listOf(open({ type: text, reason: text }))),
      faults: may(
        described('All faults of a body, each with its place.', listOf(closed({ path: text, message: text }))),
      ),
    }),
    status: described('The status of the answer.', whole),
  }),
)

const hit = hitOf(anySourceShape)
const innerHit = described('A document, or an element of a nested list in it.', hitOf(object))
const hits = closed({
  hits: listOf(hit),
  total: may(
    described(
      'A number at `search/`, as before version 7; an object at `_search`. Absent where hits are not counted.',
      anyOf([whole, closed({ value: whole, relation: oneOf(['eq', 'gte']) })]),
    ),
  ),
  max_score: may(orNull(number)),
})
const searchAnswer = closed({
  ...{ took: described('Milliseconds.', whole), timed_out: flag, _shards: shards, hits },
  aggregations: may(described('What each aggregation found, by its name.', mapOf(object))),
  ...{ _scroll_id: may(text), pit_id: may(text), resume: may(object), terminated_early: may(flag) },
})

const found = closed({
  ...{ ...document, found: flag, _version: may(whole), _seq_no: may(whole), _primary_term: may(whole) },
  ...{ _routing: may(text), _parent: may(text), _source: may(anySourceShape) },
})
const suggestion = closed({
  ...{ text, kind: text, score: number, field: may(text), entity: may(text), address: may(text) },
  name: may(orNull(text)),
})

export const ANSWER_SHAPES = {
  Error: error,
  Hit: hit,
  InnerHit: innerHit,
  InnerHits: open({ hits: listOf(innerHit) }),
  Hits: hits,
  SearchAnswer: searchAnswer,
  RenderedTemplate: closed({ template_output: object }),
  MultiSearchAnswer: closed({
    took: whole,
    responses: listOf(anyOf([open({ took: whole, status: whole, hits }), error])),
  }),
  CountAnswer: closed({ count: whole, _shards: shards }),
  Document: found,
  Documents: closed({ docs: listOf(anyOf([found, json({ type: 'object', required: ['_id', 'error'] })])) }),
  Source: anySourceShape,
  Explanation: open({ ...document, matched: flag, explanation: may(object) }),
  Validity: open({ valid: flag, _shards: may(shards), explanations: may(listOf(object)), error: may(text) }),
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
  Suggestions: closed({ took: whole, suggestions: listOf(suggestion) }),
  Information: open({ name: text, cluster_name: text, version: open({ number: text }), tagline: text }),
  Table: described('Rows, with `format=json`.', listOf(mapOf(orNull(text)))),
}
