import { KINDS } from '../../mapping/index.ts'
import { anySource } from '../openapi/documents.ts'
import {
  anyRecord,
  anything,
  arrayOf,
  choiceOf,
  described,
  extensible,
  flag,
  type HttpShape,
  int,
  json,
  mapOf,
  may,
  num,
  type Of,
  orNull,
  refTo,
  str,
  strict,
  unionOf,
} from './values.ts'

/** Answers below `…/es`. */

const kind = choiceOf(KINDS)
const shards = extensible({ total: int, successful: int, failed: int, skipped: may(int) })
const document = { _index: str, _type: kind, _id: str }
const anySourceShape = json<Record<string, unknown>>(anySource)

const hitOf = <S extends HttpShape>(own: S) =>
  strict({
    ...{ ...document, _score: orNull(num), _routing: may(str), _parent: may(str), _version: may(int) },
    ...{ _seq_no: may(int), _primary_term: may(int), _source: may(own), sort: may(arrayOf(anything)) },
    ...{ fields: may(mapOf(arrayOf(anything))), highlight: may(mapOf(arrayOf(str))) },
    inner_hits: may(mapOf(strict({ hits: refTo('InnerHits') }))),
    matched_queries: may(arrayOf(str)),
    ...{ _explanation: may(extensible({ value: num, description: str })), _nested: may(anyRecord) },
  })

const error = described(
  'An error in Elasticsearch’s shape.',
  extensible({
    error: extensible({
      type: described('What went wrong, as a name that does not change.', str),
      reason: str,
      root_cause: may(arrayOf(extensible({ type: str, reason: str }))),
      faults: may(
        described('All faults of a body, each with its place.', arrayOf(strict({ path: str, message: str }))),
      ),
    }),
    status: described('The status of the answer.', int),
  }),
)

const hit = hitOf(anySourceShape)
const innerHit = described('A document, or an element of a nested list in it.', hitOf(anyRecord))
const hits = strict({
  hits: arrayOf(hit),
  total: may(
    described(
      'A number at `search/`, as before version 7; an object at `_search`. Absent where hits are not counted.',
      unionOf([int, strict({ value: int, relation: choiceOf(['eq', 'gte']) })]),
    ),
  ),
  max_score: may(orNull(num)),
})
const searchAnswer = strict({
  ...{ took: described('Milliseconds.', int), timed_out: flag, _shards: shards, hits },
  aggregations: may(described('What each aggregation found, by its name.', mapOf(anyRecord))),
  ...{ _scroll_id: may(str), pit_id: may(str), resume: may(anyRecord), terminated_early: may(flag) },
})

const documentAnswer = strict({
  ...{ ...document, found: flag, _version: may(int), _seq_no: may(int), _primary_term: may(int) },
  ...{ _routing: may(str), _parent: may(str), _source: may(anySourceShape) },
})
const suggestion = strict({
  ...{ text: str, kind: str, score: num, field: may(str), entity: may(str), address: may(str) },
  name: may(orNull(str)),
})

const gwei = orNull(num)
const fees = strict({
  probability: described('Part of the gas in these blocks whose buyers paid at most this priority fee.', str),
  priorityFee: num,
  maxFee: described('The priority fee and twice the base fee of the newest block.', num),
})
const gasPrice = strict({
  health: described('Whether transactions were found and, without `to`, the newest block is recent.', flag),
  blockNumber: described('The newest of the blocks.', orNull(int)),
  blockTime: described('Mean seconds from block to block.', orNull(num)),
  slow: described('The base fee of the newest block and the priority fee of the tier.', gwei),
  ...{ standard: gwei, fast: gwei, instant: gwei },
  latestBlockBaseFee: may(described('Absent without EIP-1559, as the next ones.', num)),
  latestBlockMinFee: may(described('The lowest price that was paid in the newest block.', num)),
  eip1559: may(strict({ slow: fees, standard: fees, fast: fees, faster: fees, instant: fees })),
})

export type GasPriceAnswer = Of<typeof gasPrice>

export const ANSWER_SHAPES = {
  Error: error,
  Hit: hit,
  InnerHit: innerHit,
  InnerHits: extensible({ hits: arrayOf(innerHit) }),
  Hits: hits,
  SearchAnswer: searchAnswer,
  RenderedTemplate: strict({ template_output: anyRecord }),
  MultiSearchAnswer: strict({
    took: int,
    responses: arrayOf(unionOf([extensible({ took: int, status: int, hits }), error])),
  }),
  CountAnswer: strict({ count: int, _shards: shards }),
  Document: documentAnswer,
  Documents: strict({ docs: arrayOf(unionOf([documentAnswer, json({ type: 'object', required: ['_id', 'error'] })])) }),
  Source: anySourceShape,
  Explanation: extensible({ ...document, matched: flag, explanation: may(anyRecord) }),
  Validity: extensible({ valid: flag, _shards: may(shards), explanations: may(arrayOf(anyRecord)), error: may(str) }),
  Tokens: strict({
    tokens: arrayOf(strict({ token: str, start_offset: int, end_offset: int, type: str, position: int })),
  }),
  Closed: strict({ succeeded: flag, num_freed: int }),
  PointInTime: strict({ id: str }),
  OpenedPointInTime: strict({ pit_id: str, _shards: shards, creation_time: int }),
  ClosedPointsInTime: strict({ pits: arrayOf(strict({ successful: flag, pit_id: str })) }),
  PointsInTime: strict({ pits: arrayOf(strict({ pit_id: str, creation_time: int, keep_alive: int })) }),
  ByIndex: described('By the name of each index.', mapOf(anyRecord)),
  FieldCapabilities: strict({ indices: arrayOf(str), fields: mapOf(mapOf(anyRecord)) }),
  ResolvedIndexes: strict({
    indices: arrayOf(anyRecord),
    aliases: arrayOf(anyRecord),
    data_streams: arrayOf(anyRecord),
  }),
  Statistics: strict({ _shards: shards, _all: anyRecord, indices: mapOf(anyRecord) }),
  Shards: strict({ _shards: shards }),
  ClusterHealth: extensible({ cluster_name: str, status: choiceOf(['green']), timed_out: flag, number_of_nodes: int }),
  ClusterStatistics: extensible({ cluster_name: str, timestamp: int, indices: anyRecord, nodes: anyRecord }),
  ClusterSettings: extensible({ persistent: anyRecord, transient: anyRecord }),
  ClusterState: extensible({ cluster_name: str, cluster_uuid: str }),
  Tasks: extensible({ nodes: may(anyRecord), tasks: may(anything) }),
  Templates: described('No templates.', anyRecord),
  Nodes: strict({ _nodes: shards, cluster_name: str, nodes: mapOf(anyRecord) }),
  SearchShards: strict({ nodes: mapOf(anyRecord), indices: mapOf(anyRecord), shards: arrayOf(arrayOf(anyRecord)) }),
  GasPrice: described('Fees in gwei.', gasPrice),
  Suggestions: strict({ took: int, suggestions: arrayOf(suggestion) }),
  Information: extensible({ name: str, cluster_name: str, version: extensible({ number: str }), tagline: str }),
  Table: described('Rows, with `format=json`.', arrayOf(mapOf(orNull(str)))),
}
