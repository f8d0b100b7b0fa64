import type { EventAbi } from '../../decode/types.ts'
import { type FieldPath, type Kind, lookup, type RowKind } from '../../mapping/index.ts'
import { analyze } from '../../query/analysis.ts'
import type { Node, Value } from '../../query/ast.ts'
import { isIn, tooLong } from '../../query/simplify.ts'
import type { SegmentHeader } from '../index/segment.ts'
import {
  argumentField,
  argumentOf,
  argumentTerms,
  fieldId,
  fieldOfTerm,
  findFieldId,
  HASHED,
  OVERFLOW_SLOT,
  termOf,
  UNLISTED,
} from '../index/terms.ts'
import type { Reader, StoredSignature } from '../reader.ts'
import { blockOf, PLACES, placeOf, positionOf } from '../schema.ts'
import { addressIds, type ColumnCondition, conditionOf } from './column-conditions.ts'
import { type ColumnSource, columnSource } from './column-source.ts'
import { commonStart, type Leaf, testOf } from './leaf.ts'
import { findBlock, findTransaction, positionsOfIds } from './lookup.ts'
import { type Nested, planNested } from './nested.ts'
import { isRowKind } from './places.ts'
import { positionsBy, sparsePositions } from './sparse.ts'
import { dictionaryOf, expandAllFuzzy, expandFuzzy, idsByWord } from './term-dictionary.ts'

/**
 * A query on one kind, ready to be evaluated segment by segment: names and addresses are resolved to dictionary ids, and
 * every leaf says by which means it is found, cheapest first.
 */
export type Plan =
  | { by: 'all' }
  | { by: 'none' }
  | { by: 'and' | 'or'; of: Plan[] }
  | { by: 'atLeast'; count: number; of: Plan[] }
  | { by: 'not'; of: Plan }
  /** Documents at these positions, ascending. */
  | { by: 'positions'; positions: number[] }
  /** Documents of blocks in these runs of block numbers. */
  | { by: 'blocks'; runs: [from: number, to: number][] }
  /** Documents of blocks of which the segment's header fulfils a test; \`index\` is that of the block. */
  | { by: 'headers'; test(header: SegmentHeader, index: number): boolean }
  /** Logs or traces of transactions, named by the transactions' positions. */
  | { by: 'transactions'; positions: number[] }
  | { by: 'terms'; terms: { term: number; fingerprint: number }[] }
  /** Logs of these signatures. */
  | { by: 'signatures'; ids: ReadonlySet<number> }
  /** Logs that these addresses (dictionary ids) emitted, of certain signatures where they are given. */
  | { by: 'emitters'; addresses: number[]; signatures: ReadonlySet<number> | undefined }
  /** A range of terms with one fingerprint, of which those count that are accepted. */
  | { by: 'termRange'; first: number; last: number; fingerprint: number; accept(term: number): boolean }
  /** Logs one of whose arguments fulfils conditions, of certain signatures where they are given. */
  | { by: 'nested'; nested: Nested; signatures: ReadonlySet<number> | undefined }
  /** Documents of which so many children match. */
  | { by: 'children'; kind: Kind; of: Plan; min: number; max: number }
  /** Documents whose parent matches. */
  | { by: 'parent'; kind: Kind; of: Plan }
  /** Documents whose number in a column fulfils a condition. Where that is in doubt they are asked themselves. */
  | { by: 'columns'; source: ColumnSource; condition: ColumnCondition; node: Leaf }
  /** What no index and no column tells: the documents themselves are asked. */
  | { by: 'documents'; node: Node }

export const planQuery = (kind: Kind, node: Node, reader: Reader): Plan => {
  reader.check()
  switch (node.op) {
    case 'all':
      return EVERYTHING
    case 'none':
      return NOTHING
    case 'and': {
      const of = withSignatures(node.of.map(inner => planQuery(kind, inner, reader)))
      if (of.some(plan => plan.by === 'none')) return NOTHING
      return of.length === 1 ? of[0]! : { by: 'and', of: of.sort((a, b) => COST[a.by] - COST[b.by]) }
    }
    case 'or': {
      const of = node.of.map(inner => planQuery(kind, inner, reader)).filter(plan => plan.by !== 'none')
      if (of.length === 0) return NOTHING
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
      return { by: 'documents', node }
    case 'phrase': {
      const words = node.prefix ? node.words.slice(0, -1) : node.words
      const of = words.map(word => planQuery(kind, isIn(node.field, [word]), reader))
      return of.some(plan => plan.by === 'none')
        ? NOTHING
        : { by: 'and', of: [...withSignatures(of), { by: 'documents', node }] }
    }
    case 'in':
    case 'range':
    case 'exists':
    case 'pattern':
      return planLeaf(kind, node, reader)
  }
}

export const EVERYTHING: Plan = { by: 'all' }
export const NOTHING: Plan = { by: 'none' }

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
 * In a conjunction, conditions on the signature (a name, a first topic) go into those on emitters and arguments, whose index entries are
 * kept by signature: these then need no intersection, and know their counts.
 */
const withSignatures = (plans: Plan[]): Plan[] => {
  const named = plans.filter(plan => plan.by === 'signatures')
  const rest = plans.filter(plan => plan.by !== 'signatures')
  const [first, ...others] = named
  if (!first) return plans
  const ids = others.reduce((left, { ids }) => left.intersection(ids), new Set(first.ids))
  if (ids.size === 0) return [NOTHING]
  const narrowed = rest.map(plan =>
    plan.by === 'emitters' || plan.by === 'nested'
      ? { ...plan, signatures: plan.signatures?.intersection(ids) ?? ids }
      : plan,
  )
  const told = narrowed.some(plan => plan.by === 'emitters' || plan.by === 'nested')
  return told ? narrowed : [{ by: 'signatures', ids }, ...narrowed]
}

const planChildren = (kind: Kind, node: Extract<Node, { op: 'child' }>, reader: Reader): Plan => {
  const { kind: child, of, min, max } = node
  // In a block that has such a log, a transaction has it: which one does not matter.
  if (isSome(node) && of.op === 'child' && isSome(of) && ALWAYS_IN_TRANSACTIONS.has(of.kind))
    return planChildren(kind, of, reader)
  const plan = ofParent(child, kind, planQuery(child, of, reader), reader)
  return plan.by === 'none' ? NOTHING : { by: 'children', kind: child, of: plan, min, max }
}

const planParent = (kind: Kind, node: Extract<Node, { op: 'parent' }>, reader: Reader): Plan => {
  const { kind: parent, of } = node
  if (of.op === 'parent' && ALWAYS_IN_TRANSACTIONS.has(kind)) return planParent(kind, of, reader)
  const plan = planQuery(parent, of, reader)
  return plan.by === 'none' ? NOTHING : ofParent(kind, parent, { by: 'parent', kind: parent, of: plan }, reader)
}

const isSome = ({ min, max }: { min: number; max: number }) => min === 1 && max === Number.POSITIVE_INFINITY
const ALWAYS_IN_TRANSACTIONS: ReadonlySet<Kind> = new Set<Kind>(['log', 'event'])

/** What of a plan on children has parents of this kind: rewards alone are traces of the block itself. */
export const ofParent = (child: Kind, parent: Kind, plan: Plan, reader: Reader): Plan => {
  if (child !== 'trace' || parent !== 'block') return plan
  const rewards = planQuery('trace', isIn(lookup('trace', 'type')!, ['reward']), reader)
  return rewards.by === 'none' || plan.by === 'none' ? NOTHING : { by: 'and', of: [plan, rewards] }
}

const planLeaf = (kind: Kind, leaf: Leaf, reader: Reader): Plan => {
  const { field } = leaf
  // What is found by numbers knows no shape of their digits.
  const isShape = leaf.op === 'pattern' && field.compare === 'integer'
  const special = isShape
    ? undefined
    : (INDEXED_FIELDS[kind]?.[field.field] ?? IN_ALL_KINDS[field.field])?.(leaf, reader)
  if (special) return special
  const few = (leaf.op === 'range' || leaf.op === 'pattern') && fewNames(kind, leaf, reader)
  if (few) return planQuery(kind, few, reader)
  if (leaf.op === 'in') {
    const indexed = byPostings(kind, field, leaf, reader)
    if (indexed) return indexed
  }
  if (isRowKind(kind)) {
    const positions = sparsePositions(kind, leaf, reader)
    return positions ? { by: 'positions', positions } : { by: 'documents', node: leaf }
  }
  const source = columnSource(kind, field, reader)
  if (!source) return { by: 'documents', node: leaf }
  const condition = conditionOf(leaf, reader)
  return condition === 'never' ? NOTHING : { by: 'columns', source, condition, node: leaf }
}

/** A condition on what all documents of a block, or of a transaction, show of it. */
const ofWhole = (kind: 'block' | 'tx', leaf: Leaf, reader: Reader): Plan => {
  const of = planLeaf(kind, { ...leaf, field: lookup(kind, 'hash')! }, reader)
  return of.by === 'none' ? NOTHING : { by: 'parent', kind, of }
}

/**
 * A range of names, such as those that begin with a text, by the names that lie in it: the index has them, where they are few.
 */
const fewNames = (kind: Kind, leaf: Leaf, reader: Reader): Node | undefined => {
  const { field } = leaf
  if (findFieldId(kind, field.field) === undefined) return undefined
  const values = dictionaryOf(kind, field, reader)?.filter(testOf(leaf))
  return values && values.length <= MAX_NAMES ? isIn(field, values) : undefined
}

const MAX_NAMES = 1000

type Planner = (leaf: Leaf, reader: Reader) => Plan | undefined

const blockNumber: Planner = leaf => {
  if (leaf.field.encoding === 'num' || leaf.field.encoding === 'dec') return { by: 'blocks', runs: runsOf(leaf) }
  if (leaf.op === 'exists') return EVERYTHING
  if (leaf.op !== 'in') {
    const test = testOf(leaf)
    return { by: 'headers', test: ({ first }, index) => test(`0x${(first + index).toString(16)}`) }
  }
  // `raw` is the number's minimal hex.
  const numbers = leaf.values.flatMap(value => {
    const number = Number(value)
    return Number.isSafeInteger(number) && `0x${number.toString(16)}` === value ? [number] : []
  })
  return { by: 'blocks', runs: numbers.sort((a, b) => a - b).map(number => [number, number]) }
}

const time: Planner = leaf => {
  const test = testOf(leaf)
  return { by: 'headers', test: ({ times }, index) => test(times[index]! * 1000) }
}

const blockHash: Planner = (leaf, reader) => {
  if (leaf.op === 'exists') return EVERYTHING
  return leaf.op === 'in' ? blocksByHash(leaf, reader) : ofWhole('block', leaf, reader)
}

const ownBlockHash: Planner = (leaf, reader) => {
  if (leaf.op === 'exists') return EVERYTHING
  return leaf.op === 'in' ? blocksByHash(leaf, reader) : undefined
}

const blocksByHash = (leaf: Extract<Leaf, { op: 'in' }>, reader: Reader): Plan => {
  const positions = leaf.values.flatMap(value => findBlock(String(value), reader) ?? [])
  const numbers = positions.map(position => position / PLACES).sort((a, b) => a - b)
  return { by: 'blocks', runs: numbers.map(number => [number, number]) }
}

const transactionHash: Planner = (leaf, reader) => {
  if (leaf.op === 'exists') return EVERYTHING
  if (leaf.op !== 'in') return ofWhole('tx', leaf, reader)
  return {
    by: 'transactions',
    positions: ascending(leaf.values.flatMap(value => findTransaction(String(value), reader) ?? [])),
  }
}

/** Contracts are few, and no segment tells which transaction created them. */
const contractTransaction: Planner = (leaf, reader) => {
  const plan = leaf.op === 'range' || leaf.op === 'pattern' ? undefined : transactionHash(leaf, reader)
  if (plan?.by !== 'transactions') return plan
  const select = reader.prepare('SELECT pos FROM contract WHERE pos BETWEEN ? AND ? AND tx = ? ORDER BY pos').pluck()
  const created = plan.positions.flatMap(position => {
    const start = positionOf(blockOf(position), 0)
    return select.all(start, start + PLACES - 1, placeOf(position)) as number[]
  })
  return { by: 'positions', positions: created }
}

const ownTransactionHash: Planner = (leaf, reader) => {
  if (leaf.op === 'exists') return EVERYTHING
  if (leaf.op !== 'in') return undefined
  return {
    by: 'positions',
    positions: ascending(leaf.values.flatMap(value => findTransaction(String(value), reader) ?? [])),
  }
}

const blockTransactions: Planner = (leaf, reader) => {
  if (leaf.op === 'exists')
    return { by: 'headers', test: ({ ends: { tx } }, index) => tx[index]! > (index > 0 ? tx[index - 1]! : 0) }
  if (leaf.op !== 'in') return undefined
  const positions = leaf.values.flatMap(value => findTransaction(String(value), reader) ?? [])
  return { by: 'positions', positions: ascending(positions.map(position => position - (position % PLACES))) }
}

/** A field that all logs of a signature share. `valuesOf` gives what the field holds for it. */
const bySignature =
  (valuesOf: (signature: StoredSignature) => readonly (Value | null)[], of: 'log' | 'call' = 'log'): Planner =>
  (leaf, reader) => {
    const test = testOf(leaf)
    return ofSignatures(
      reader
        .signatures(of)
        .filter(signature =>
          valuesOf(signature).some(value => value !== null && !tooLong(leaf.field, value) && test(value)),
        ),
    )
  }

/** What a contract or a token is called, word by word. */
const byWords =
  (table: RowKind): Planner =>
  (leaf, reader) => {
    const { encoding, field } = leaf.field
    if (encoding !== '') return undefined
    return { by: 'positions', positions: positionsBy(table, field, idsByWord(testOf(leaf), reader), reader) }
  }

/** An event as text begins with its name: only events of that name are asked. */
const rendered: Planner = (leaf, reader) => {
  const names = namesIn(leaf)
  const logs = ofSignatures(
    reader.signatures('log').filter(({ event, error }) => event && error === null && (names?.has(event.name) ?? true)),
  )
  return logs.by === 'none' ? NOTHING : { by: 'and', of: [logs, { by: 'documents', node: leaf }] }
}

/** Names that the texts of a condition begin with; undefined where it does not say. */
const namesIn = (leaf: Leaf): Set<string> | undefined => {
  if (leaf.op === 'exists') return undefined
  const starts = leaf.op === 'in' ? leaf.values.map(String) : [commonStart(leaf)]
  const names = starts.filter(text => text.includes('(')).map(text => text.slice(0, text.indexOf('(')))
  return leaf.op === 'in' || names.length > 0 ? new Set(names) : undefined
}

/** The name of an event or a function, whole or word by word. */
const byName =
  (of: 'log' | 'call'): Planner =>
  (leaf, reader) =>
    bySignature(({ event }) => (event ? (leaf.field.encoding === 'raw' ? [event.name] : wordsOf(event)) : []), of)(
      leaf,
      reader,
    )

/** Declarations are read once, and asked for each name. */
const wordsOf = (event: EventAbi): readonly string[] => {
  let words = WORDS.get(event)
  if (!words) {
    words = analyze(event.name)
    WORDS.set(event, words)
  }
  return words
}
const WORDS = new WeakMap<EventAbi, readonly string[]>()

const ofSignatures = (signatures: readonly StoredSignature[]): Plan =>
  signatures.length === 0 ? NOTHING : { by: 'signatures', ids: new Set(signatures.map(({ id }) => id)) }

const emitter: Planner = (leaf, reader) => {
  if (leaf.op !== 'in') return leaf.op === 'exists' ? EVERYTHING : undefined
  const addresses = addressIds(leaf, reader)
  return addresses.length === 0
    ? NOTHING
    : { by: 'emitters', addresses: [...new Set(addresses)], signatures: undefined }
}

/** First topic: that of the signature, but for logs that keep theirs themselves. */
const firstTopic: Planner = (leaf, reader) => {
  const listed = bySignature(({ topic }) => [topic])(leaf, reader)
  const unlisted = reader.signatures('log').find(({ key }) => key === UNLISTED)
  if (!unlisted || listed === undefined) return listed
  if (leaf.op !== 'in') {
    const others: Plan = { by: 'and', of: [ofSignatures([unlisted]), { by: 'documents', node: leaf }] }
    return { by: 'or', of: [listed, others] }
  }
  const terms = leaf.values.map(value => {
    const { high, low } = reader.hash(String(value))
    return { term: termOf(HASHED + high, argumentField(unlisted.id, 0)), fingerprint: low }
  })
  return { by: 'or', of: [listed, { by: 'terms', terms }] }
}

const SELECTOR = fieldId('call', 'selector')

/** Of functions that nobody knows the selectors are in the index themselves. */
const selector: Planner = (leaf, reader) => {
  if (leaf.op === 'exists') return EVERYTHING
  if (leaf.op !== 'in') return undefined
  const terms = leaf.values.map(value => {
    const { high, low } = reader.hash(String(value))
    return { term: termOf(HASHED + high, SELECTOR), fingerprint: low }
  })
  const listed = bySignature(({ topic }) => [topic], 'call')(leaf, reader)
  return { by: 'or', of: [...(listed ? [listed] : []), { by: 'terms', terms }] }
}

const topics: Planner = (leaf, reader) => {
  if (leaf.op === 'exists') return firstTopic(leaf, reader)
  if (leaf.op !== 'in') return undefined
  const plans = leaf.values.flatMap(value => {
    const word = String(value)
    if (!/^0x[0-9a-f]{64}$/.test(word)) return []
    return [
      ofSignatures(reader.signatures('log').filter(({ topic }) => topic === word)),
      ...indexedArguments(word, reader),
      farArguments({ ...leaf, values: [word] }, reader),
    ]
  })
  const possible = plans.filter(plan => plan.by !== 'none')
  return possible.length === 0 ? NOTHING : { by: 'or', of: possible }
}

/** Logs one of whose topics behind the first is this word, found by what the word means as an argument of each type. */
const indexedArguments = (word: string, reader: Reader): Plan[] => {
  const matches = (term: number, value: string): boolean => {
    const { signature, slot } = argumentOf(fieldOfTerm(term))
    if (reader.signature(signature).of === 'call') return false
    const { event, error } = reader.signature(signature)
    if (!event || error !== null) return value === word
    const input = slot === OVERFLOW_SLOT ? undefined : event.inputs[slot]
    return input?.indexed === true && wordOf(value, input.type) === word
  }
  const digits = word.slice(2)
  const values = new Set([word, `0x${digits.replace(/^0+(?=.)/, '')}`])
  // Fixed bytes stand at the word's left end, and negative integers are shown in their own width.
  for (let size = 1; size < 32; size++) {
    if (/^0*$/.test(digits.slice(size * 2))) values.add(`0x${digits.slice(0, size * 2)}`)
    if (/^f*$/.test(digits.slice(0, 64 - size * 2))) values.add(`0x${digits.slice(64 - size * 2)}`)
  }
  const plans = [...values].map((value): Plan => {
    const { high, low } = reader.hash(value)
    const [first, last] = argumentTerms(HASHED + high)
    return { by: 'termRange', first, last, fingerprint: low, accept: term => matches(term, value) }
  })
  const address = digits.startsWith('0'.repeat(24)) ? reader.addressId(digits.slice(24)) : undefined
  if (address !== undefined) {
    const [first, last] = argumentTerms(address)
    plans.push({ by: 'termRange', first, last, fingerprint: 0, accept: term => matches(term, `0x${digits.slice(24)}`) })
  }
  return plans
}

/** Of arguments that share a slot the index does not tell which one has a value: their logs are looked at themselves. */
const farArguments = (leaf: Leaf, reader: Reader): Plan => {
  const logs = ofSignatures(
    reader
      .signatures('log')
      .filter(({ event }) => event?.inputs.some(({ indexed }, i) => indexed && i >= OVERFLOW_SLOT)),
  )
  return logs.by === 'none' ? NOTHING : { by: 'and', of: [logs, { by: 'documents', node: leaf }] }
}

/** The 32-byte topic word of an indexed argument, from its value as events show it (addresses in lower case). */
const wordOf = (value: string, type: string): string => {
  const digits = value.slice(2)
  if (/^(bytes\d+|function)$/.test(type)) return `0x${digits.padEnd(64, '0')}`
  const width = /^int(\d+)$/.exec(type)?.[1]
  const negative = width !== undefined && digits.length === Number(width) / 4 && digits[0]! >= '8'
  return `0x${digits.padStart(64, negative ? 'f' : '0')}`
}

const runsOf = (leaf: Leaf): [number, number][] => {
  if (leaf.op === 'exists') return [[0, Number.MAX_SAFE_INTEGER]]
  if (leaf.op === 'in')
    return leaf.values
      .map(Number)
      .sort((a, b) => a - b)
      .map(number => [number, number])
  const { gt, gte, lt, lte } = leaf.op === 'range' ? leaf.bounds : {}
  const from = Math.max(0, gte === undefined ? 0 : Number(gte), gt === undefined ? 0 : Number(gt) + 1)
  const to = Math.min(
    Number.MAX_SAFE_INTEGER,
    lte === undefined ? Number.MAX_SAFE_INTEGER : Number(lte),
    lt === undefined ? Number.MAX_SAFE_INTEGER : Number(lt) - 1,
  )
  return from <= to ? [[from, to]] : []
}

const byPostings = (
  kind: Kind,
  field: FieldPath,
  leaf: Extract<Leaf, { op: 'in' }>,
  reader: Reader,
): Plan | undefined => {
  const id = findFieldId(kind, field.field)
  const values = id === undefined ? undefined : postedValues(field, leaf, reader)
  if (id === undefined || !values) return undefined
  return values.length === 0
    ? NOTHING
    : { by: 'terms', terms: values.map(({ value, fingerprint }) => ({ term: termOf(value, id), fingerprint })) }
}

/** Values as terms have them; undefined where these do not tell. See field-terms.ts. */
const postedValues = (
  field: FieldPath,
  leaf: Extract<Leaf, { op: 'in' }>,
  reader: Reader,
): { value: number; fingerprint: number }[] | undefined => {
  const { values } = leaf
  const plain = (ids: readonly number[]) => [...new Set(ids)].map(value => ({ value, fingerprint: 0 }))
  switch (field.kind) {
    case 'address':
      return plain(addressIds(leaf, reader))
    case 'keyword':
      return plain(values.flatMap(value => reader.nameId(String(value)) ?? []))
    case 'hex':
      return values.map(value => {
        const { high, low } = reader.hash(String(value))
        return { value: HASHED + high, fingerprint: low }
      })
    case 'boolean':
      return values.length === 1 && values[0] === false ? plain([0]) : undefined
    default:
      return undefined
  }
}

const constant =
  (value: Value): Planner =>
  leaf =>
    testOf(leaf)(value) ? EVERYTHING : NOTHING

/** Fields that mean the same whatever document shows them. */
const IN_ALL_KINDS: Record<string, Planner> = { blockNumber, blockHash, transactionHash, timestamp: time }

/** Fields that are found in another way than by postings or columns of their own. */
const INDEXED_FIELDS: Partial<Record<Kind, Record<string, Planner>>> = {
  block: { number: blockNumber, hash: ownBlockHash, transactions: blockTransactions },
  tx: { hash: ownTransactionHash },
  log: { address: emitter, topics, signature: firstTopic, removed: constant(false) },
  event: {
    address: emitter,
    event: byName('log'),
    error: bySignature(({ error }) => [error]),
    str: rendered,
    probability: bySignature(({ event, probability }) => [event && probability]),
  },
  trace: {
    // Rewards have none.
    transactionHash: (leaf, reader) =>
      leaf.op === 'exists'
        ? planLeaf('trace', { op: 'exists', field: lookup('trace', 'transactionPosition.num')! }, reader)
        : transactionHash(leaf, reader),
  },
  call: {
    to: emitter,
    method: byName('call'),
    selector,
    probability: bySignature(({ event, probability }) => [event && probability], 'call'),
  },
  contract: { transactionHash: contractTransaction, name: byWords('contract') },
  token: { firstSeen: blockNumber, name: byWords('token'), symbol: byWords('token') },
}

const ascending = (positions: number[]): number[] => [...new Set(positions)].sort((a, b) => a - b)
