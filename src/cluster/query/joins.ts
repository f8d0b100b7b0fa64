import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import { type FieldPath, type Kind, lookup } from '../../mapping/index.ts'
import type { JoinNode, Node } from '../../query/ast.ts'
import type { BlockRun } from '../../query/request.ts'
import { andNode } from '../../query/simplify.ts'
import { unsupported } from '../deviations.ts'
import { META_FIELDS } from '../indices/names.ts'
import { type Dsl, hiddenClauses, withinRuns } from './dsl.ts'
import { compileNode, type Joins } from './node.ts'

/** Asks the documents of some kinds by a search, and gives its answer as parsed JSON. */
export type AskCluster = (kinds: readonly Kind[], body: object, parameters?: object) => Promise<unknown>

/** Context for looking up related documents. */
export interface JoinLookup {
  ask: AskCluster
  visible: Pick<Visible, 'hidden'>
  /** Blocks to search; all by default. */
  within?: readonly BlockRun[] | undefined
}

/** Most related documents that a condition may match: the limit of a list of values. */
export const MOST_RELATED = 65_536
const IDS_PER_PAGE = 10_000

/** Looks up the related documents of conditions, innermost first, each node once. */
export const resolveJoins = async (
  queries: readonly { kind: Kind; node: Node }[],
  looking: JoinLookup,
): Promise<Joins> => {
  const known = new Map<JoinNode, readonly string[]>()
  const joins: Joins = {
    idsOf(node) {
      const ids = known.get(node)
      if (!ids) throw new Error(`a condition on a ${node.op} was not looked up`)
      return ids
    },
  }
  const resolve = async (node: Node, kind: Kind, beside: readonly Node[]): Promise<void> => {
    switch (node.op) {
      case 'and': {
        const around = [...beside, ...node.of.filter(tellsBlocks)]
        for (const one of node.of) await resolve(one, kind, around)
        return
      }
      case 'or':
      case 'atLeast':
        for (const one of node.of) await resolve(one, kind, beside)
        return
      case 'not':
      case 'nested':
        return resolve(node.of, kind, beside)
      case 'child':
      case 'parent': {
        if (known.has(node)) return
        // Relatives share a block, so a condition on the block holds for both.
        const blocks = beside.flatMap(one => asReadBy(one, node.kind))
        await resolve(node.of, node.kind, blocks)
        known.set(node, await lookUpIds(node, compileNode(andNode([node.of, ...blocks]), node.kind, joins), looking))
        return
      }
    }
  }
  for (const { node, kind } of queries) await resolve(node, kind, [])
  return joins
}

/** Conditions on the block that all matches meet, for another kind: relatives share a block. */
export const blocksIn = (query: Node, kind: Kind): Node[] =>
  (query.op === 'and' ? query.of : [query]).filter(tellsBlocks).flatMap(one => asReadBy(one, kind))

const BLOCK_FIELDS: ReadonlySet<string> = new Set(['blockNumber', 'number', 'timestamp'])

const tellsBlocks = (node: Node): boolean => (node.op === 'in' || node.op === 'range') && isOfBlock(node.field)

const isOfBlock = ({ field, list }: FieldPath): boolean => list === undefined && BLOCK_FIELDS.has(field)

/** The same condition on the block, for fields of another kind. */
const asReadBy = (node: Node, kind: Kind): Node[] => {
  if (node.op !== 'in' && node.op !== 'range') return []
  const { path } = node.field
  const [name = '', ...encoding] = path.split('.')
  const own = name === 'timestamp' ? name : kind === 'block' ? 'number' : 'blockNumber'
  const field = lookup(kind, [own, ...encoding].join('.'))
  return field?.compare === node.field.compare ? [{ ...node, field }] : []
}

const lookUpIds = (node: JoinNode, query: Dsl, { ask, visible, within }: JoinLookup): Promise<string[]> => {
  const filter = within ? [query, withinRuns(within)] : [query]
  const seen = { bool: { filter, must_not: hiddenClauses(visible) } }
  return node.op === 'child' ? idsOfParents(node, seen, ask) : idsOfAll(node, seen, ask)
}

interface FoundIds {
  hits: { total: { value: number }; hits: { _id: string; sort: unknown[] }[] }
}

const idsOfAll = async ({ kind }: JoinNode, query: Dsl, ask: AskCluster): Promise<string[]> => {
  const ids: string[] = []
  let after: unknown[] | undefined
  for (;;) {
    const { hits } = (await ask([kind], {
      ...{ query, size: IDS_PER_PAGE, sort: [{ [META_FIELDS.position]: 'desc' }], _source: false },
      track_total_hits: after ? false : MOST_RELATED + 1,
      ...(after && { search_after: after }),
    })) as FoundIds
    if (!after && hits.total.value > MOST_RELATED) throw tooManyRelated('has_parent', kind)
    for (const { _id } of hits.hits) ids.push(_id)
    if (hits.hits.length < IDS_PER_PAGE) return ids
    after = hits.hits.at(-1)!.sort
  }
}

interface Grouped {
  /** Absent if there is no index yet. */
  aggregations?: { parents: { after_key?: object; buckets: { key: { id: string }; doc_count: number }[] } }
}

/** Ids of documents whose number of matching children is in range. */
const idsOfParents = async (
  { kind, min, max }: Extract<JoinNode, { op: 'child' }>,
  query: Dsl,
  ask: AskCluster,
): Promise<string[]> => {
  const ids: string[] = []
  let after: object | undefined
  for (;;) {
    const sources = [{ id: { terms: { field: META_FIELDS.parent } } }]
    const composite = { size: IDS_PER_PAGE, sources, ...(after && { after }) }
    const { aggregations } = (await ask([kind], {
      ...{ query, size: 0, track_total_hits: false, aggs: { parents: { composite } } },
    })) as Grouped
    const { buckets, after_key } = aggregations?.parents ?? { buckets: [] }
    for (const { key, doc_count } of buckets) if (doc_count >= min && doc_count <= max) ids.push(key.id)
    if (ids.length > MOST_RELATED) throw tooManyRelated('has_child', kind)
    if (buckets.length < IDS_PER_PAGE || !after_key) return ids
    after = after_key
  }
}

export const tooManyRelated = (clause: string, kind: Kind) =>
  unsupported(
    `${clause} of more than ${MOST_RELATED} documents`,
    `narrow the clause's inner query on [${kind}], or add a range of blocks or of time next to it: related documents are in one block`,
  )
