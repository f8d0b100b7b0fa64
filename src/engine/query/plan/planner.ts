import { type Kind, lookup, type RowKind } from '../../../mapping/index.ts'
import type { Node, QueryValue } from '../../../query/ast.ts'
import { inNode } from '../../../query/simplify.ts'
import { findFieldId } from '../../index/terms.ts'
import type { StoreReader } from '../../reader.ts'
import { blockOf, PLACES_PER_BLOCK, placeOf, positionOf } from '../../schema.ts'
import { addressIds, columnSource, commonStart, type FieldCondition, testOf } from '../fields/field-values.ts'
import { findBlock, findTransaction, positionsOfIds } from '../fields/find-by-id.ts'
import { isRowKind } from '../fields/ordinals.ts'
import { positionsBy, sparsePositions } from '../fields/row-kinds.ts'
import { dictionaryValues, expandAllFuzzy, expandFuzzy, idsByWord } from '../fields/term-dictionary.ts'
import { conditionOf } from './column-conditions.ts'
import {
  blockNumber,
  byDeclaredName,
  bySignature,
  firstTopic,
  ofSignatures,
  planPostings,
  selector,
  time,
  topics,
} from './indexed-fields.ts'
import { planNested } from './nested.ts'
import { EVERYTHING, NO_DOCUMENTS, type Plan, type Planner } from './plan.ts'
/** The query planner: the access path of each condition, and the order of `and` by cost. */
export const planQuery = (kind: Kind, node: Node, reader: StoreReader): Plan => {
  reader.check()
  switch (node.op) {
    case 'all':
      return EVERYTHING
    case 'none':
      return NO_DOCUMENTS
    case 'and': {
      const of = withSignatures(node.of.map(inner => planQuery(kind, inner, reader)))
      if (of.some(plan => plan.by === 'none')) return NO_DOCUMENTS
      return of.length === 1 ? of[0]! : { by: 'and', of: of.sort((a, b) => COST[a.by] - COST[b.by]) }
    }
    case 'or': {
      const of = node.of.map(inner => planQuery(kind, inner, reader)).filter(plan => plan.by !== 'none')
      if (of.length === 0) return NO_DOCUMENTS
      return of.length === 1 ? of[0]! : { by: 'or', of }
    }
    case 'atLeast':
      return { by: 'atLeast', count: node.count, of: node.of.map(inner => planQuery(kind, inner, reader)) }
    case 'not':
      return { by: 'not', of: planQuery(kind, node.of, reader) }
    case 'ids':
      return { by: 'positions', positions: positionsOfIds(kind, node.values, reader) }
    case 'nested':
      return {
        by: 'nested',
        nested: planNested(expandAllFuzzy(kind, node.of, reader), reader, kind === 'call' ? 'call' : 'log'),
        signatures: undefined,
      }
    case 'fuzzy': {
      const resolved = expandFuzzy(kind, node, reader)
      return resolved.op === 'fuzzy' ? { by: 'documents', node } : planQuery(kind, resolved, reader)
    }
    case 'child':
      return planChildren(kind, node, reader)
    case 'parent':
      return planParent(kind, node, reader)
    case 'compare':
    case 'element':
      return { by: 'documents', node }
    case 'phrase': {
      const words = node.prefix ? node.words.slice(0, -1) : node.words
      const of = words.map(word => planQuery(kind, inNode(node.field, [word]), reader))
      return of.some(plan => plan.by === 'none')
        ? NO_DOCUMENTS
        : { by: 'and', of: [...withSignatures(of), { by: 'documents', node }] }
    }
    case 'in':
    case 'range':
    case 'exists':
    case 'pattern':
      return planLeaf(kind, node, reader)
  }
}

/** Order in which the parts of a conjunction are evaluated. */
const COST: Record<Plan['by'], number> = {
  none: 0,
  all: 1,
  positions: 2,
  blocks: 3,
  headers: 4,
  transactions: 5,
  terms: 6,
  signatures: 7,
  emitters: 6,
  termRange: 7,
  or: 8,
  and: 8,
  atLeast: 9,
  nested: 10,
  not: 11,
  parent: 11,
  children: 11,
  columns: 12,
  documents: 13,
}

/**
 * Merges signature conditions of a conjunction into those on emitters and arguments: the index
 * groups their entries by signature, so they need no intersection and have exact counts.
 */
const withSignatures = (plans: Plan[]): Plan[] => {
  const named = plans.filter(plan => plan.by === 'signatures')
  const rest = plans.filter(plan => plan.by !== 'signatures')
  const [first, ...others] = named
  if (!first) return plans
  const ids = others.reduce((left, { ids }) => left.intersection(ids), new Set(first.ids))
  if (ids.size === 0) return [NO_DOCUMENTS]
  const narrowed = rest.map(plan =>
    plan.by === 'emitters' || plan.by === 'nested'
      ? { ...plan, signatures: plan.signatures?.intersection(ids) ?? ids }
      : plan,
  )
  const isNarrowed = narrowed.some(plan => plan.by === 'emitters' || plan.by === 'nested')
  return isNarrowed ? narrowed : [{ by: 'signatures', ids }, ...narrowed]
}

const planChildren = (kind: Kind, node: Extract<Node, { op: 'child' }>, reader: StoreReader): Plan => {
  const { kind: child, of, min, max } = node
  // Logs are always in transactions, so a block has such a log if a transaction in it does.
  if (isSome(node) && of.op === 'child' && isSome(of) && ALWAYS_IN_TRANSACTIONS.has(of.kind))
    return planChildren(kind, of, reader)
  const plan = ofParent(child, kind, planQuery(child, of, reader), reader)
  return plan.by === 'none' ? NO_DOCUMENTS : { by: 'children', kind: child, of: plan, min, max }
}

const planParent = (kind: Kind, node: Extract<Node, { op: 'parent' }>, reader: StoreReader): Plan => {
  const { kind: parent, of } = node
  if (of.op === 'parent' && ALWAYS_IN_TRANSACTIONS.has(kind)) return planParent(kind, of, reader)
  const plan = planQuery(parent, of, reader)
  return plan.by === 'none' ? NO_DOCUMENTS : ofParent(kind, parent, { by: 'parent', kind: parent, of: plan }, reader)
}

const isSome = ({ min, max }: { min: number; max: number }) => min === 1 && max === Number.POSITIVE_INFINITY
const ALWAYS_IN_TRANSACTIONS: ReadonlySet<Kind> = new Set<Kind>(['log', 'event'])

/** Limits a plan on children to this parent kind: of traces, only rewards belong to a block. */
export const ofParent = (child: Kind, parent: Kind, plan: Plan, reader: StoreReader): Plan => {
  if (child !== 'trace' || parent !== 'block') return plan
  const rewards = planQuery('trace', inNode(lookup('trace', 'type')!, ['reward']), reader)
  return rewards.by === 'none' || plan.by === 'none' ? NO_DOCUMENTS : { by: 'and', of: [plan, rewards] }
}

const planLeaf = (kind: Kind, leaf: FieldCondition, reader: StoreReader): Plan => {
  const { field } = leaf
  if (leaf.op === 'in' && field.kind === 'address' && !leaf.values.some(isAddressValue)) return NO_DOCUMENTS
  // Numeric indexes do not support digit patterns.
  const isShape = leaf.op === 'pattern' && field.compare === 'integer'
  const special = isShape
    ? undefined
    : (INDEXED_FIELDS[kind]?.[field.field] ?? IN_ALL_KINDS[field.field])?.(leaf, reader)
  if (special) return special
  const few = (leaf.op === 'range' || leaf.op === 'pattern') && fewNames(kind, leaf, reader)
  if (few) return planQuery(kind, few, reader)
  if (leaf.op === 'in') {
    const indexed = planPostings(kind, field, leaf, reader)
    if (indexed) return indexed
  }
  if (isRowKind(kind)) {
    const positions = sparsePositions(kind, leaf, reader)
    return positions ? { by: 'positions', positions } : { by: 'documents', node: leaf }
  }
  const source = columnSource(kind, field, reader)
  if (!source) return { by: 'documents', node: leaf }
  const condition = conditionOf(leaf, reader)
  return condition === 'never' ? NO_DOCUMENTS : { by: 'columns', source, condition, node: leaf }
}

const isAddressValue = (value: QueryValue): boolean => /^0x[0-9a-f]{40}$/i.test(String(value))

/** Turns a range of names, such as a prefix, into the few indexed names that match it. */
const fewNames = (kind: Kind, leaf: FieldCondition, reader: StoreReader): Node | undefined => {
  const { field } = leaf
  if (findFieldId(kind, field.field) === undefined) return undefined
  const values = dictionaryValues(kind, field, reader)?.filter(testOf(leaf))
  return values && values.length <= MAX_NAMES ? inNode(field, values) : undefined
}

const MAX_NAMES = 1000

/** Looks up single hashes; `others` plans all other conditions, by default on stored documents. */
const planByHash =
  (
    find: (hash: string, reader: StoreReader) => number | undefined,
    planOf: (positions: number[], reader: StoreReader) => Plan,
    others: Planner = () => undefined,
  ): Planner =>
  (leaf, reader) => {
    if (leaf.op === 'exists') return EVERYTHING
    if (leaf.op !== 'in') return others(leaf, reader)
    return planOf(ascendingPositions(leaf.values.flatMap(value => find(String(value), reader) ?? [])), reader)
  }

/** A condition on a field that all documents of a block or transaction share. */
const ofWhole =
  (kind: 'block' | 'tx'): Planner =>
  (leaf, reader) => {
    const of = planLeaf(kind, { ...leaf, field: lookup(kind, 'hash')! }, reader)
    return of.by === 'none' ? NO_DOCUMENTS : { by: 'parent', kind, of }
  }

const planBlocks = (positions: number[]): Plan => ({
  by: 'blocks',
  runs: positions.map(position => [blockOf(position), blockOf(position)]),
})
const planTransactions = (positions: number[]): Plan => ({ by: 'transactions', positions })
const planPositions = (positions: number[]): Plan => ({ by: 'positions', positions })

const planTransactionHash = planByHash(findTransaction, planTransactions, ofWhole('tx'))

/** Contracts are few, and no segment stores which transaction created them. */
const contractTransaction = planByHash(findTransaction, (positions, reader) => {
  const select = reader.prepare('SELECT pos FROM contract WHERE pos BETWEEN ? AND ? AND tx = ? ORDER BY pos').pluck()
  const created = positions.flatMap(position => {
    const start = positionOf(blockOf(position), 0)
    return select.all(start, start + PLACES_PER_BLOCK - 1, placeOf(position)) as number[]
  })
  return planPositions(created)
})

const transactionsIn = planByHash(findTransaction, positions =>
  planPositions(ascendingPositions(positions.map(position => position - placeOf(position)))),
)
const blockTransactions: Planner = (leaf, reader) =>
  leaf.op === 'exists'
    ? { by: 'headers', test: ({ ends: { tx } }, index) => tx[index]! > (index > 0 ? tx[index - 1]! : 0) }
    : transactionsIn(leaf, reader)

/** Names of contracts and tokens, by word. */
const byWords =
  (table: RowKind): Planner =>
  (leaf, reader) => {
    const { encoding, field } = leaf.field
    if (encoding !== '') return undefined
    return { by: 'positions', positions: positionsBy(table, field, idsByWord(testOf(leaf), reader), reader) }
  }

/** An event's text begins with its name, so only events of that name are read. */
const rendered: Planner = (leaf, reader) => {
  const names = eventNamesIn(leaf)
  const logs = ofSignatures(
    reader.signatures('log').filter(({ event, error }) => event && error === null && (names?.has(event.name) ?? true)),
  )
  return logs.by === 'none' ? NO_DOCUMENTS : { by: 'and', of: [logs, { by: 'documents', node: leaf }] }
}

/** Names that the condition's texts begin with; undefined where it does not fix them. */
const eventNamesIn = (leaf: FieldCondition): Set<string> | undefined => {
  if (leaf.op === 'exists') return undefined
  const starts = leaf.op === 'in' ? leaf.values.map(String) : [commonStart(leaf)]
  const names = starts.filter(text => text.includes('(')).map(text => text.slice(0, text.indexOf('(')))
  return leaf.op === 'in' || names.length > 0 ? new Set(names) : undefined
}

const emitter: Planner = (leaf, reader) => {
  if (leaf.op !== 'in') return leaf.op === 'exists' ? EVERYTHING : undefined
  const addresses = addressIds(leaf, reader)
  return addresses.length === 0
    ? NO_DOCUMENTS
    : { by: 'emitters', addresses: [...new Set(addresses)], signatures: undefined }
}

const planConstant =
  (value: QueryValue): Planner =>
  leaf =>
    testOf(leaf)(value) ? EVERYTHING : NO_DOCUMENTS

/** Fields with the same meaning for all kinds. */
const IN_ALL_KINDS: Record<string, Planner> = {
  ...{ blockNumber, timestamp: time, transactionHash: planTransactionHash },
  blockHash: planByHash(findBlock, planBlocks, ofWhole('block')),
}

/** Fields that have an access path other than their own postings or column. */
const INDEXED_FIELDS: Partial<Record<Kind, Record<string, Planner>>> = {
  block: { number: blockNumber, hash: planByHash(findBlock, planBlocks), transactions: blockTransactions },
  tx: { hash: planByHash(findTransaction, planPositions) },
  log: { address: emitter, topics, signature: firstTopic, removed: planConstant(false) },
  event: {
    address: emitter,
    event: byDeclaredName('log'),
    error: bySignature(({ error }) => [error]),
    str: rendered,
    probability: bySignature(({ event, probability }) => [event && probability]),
  },
  trace: {
    // Rewards have no transaction.
    transactionHash: (leaf, reader) =>
      leaf.op === 'exists'
        ? planLeaf('trace', { op: 'exists', field: lookup('trace', 'transactionPosition.num')! }, reader)
        : planTransactionHash(leaf, reader),
  },
  call: {
    to: emitter,
    method: byDeclaredName('call'),
    selector,
    probability: bySignature(({ event, probability }) => [event && probability], 'call'),
  },
  contract: { transactionHash: contractTransaction, name: byWords('contract') },
  token: { firstSeen: blockNumber, name: byWords('token'), symbol: byWords('token') },
}

const ascendingPositions = (positions: number[]): number[] => [...new Set(positions)].sort((a, b) => a - b)
