import type { EventAbi } from '../../../decode/types.ts'
import { rememberedBy } from '../../../lib/caches.ts'
import type { FieldPath, Kind } from '../../../mapping/index.ts'
import type { QueryValue } from '../../../query/ast.ts'
import { tooLong } from '../../../query/simplify.ts'
import { analyzeText } from '../../../query/text/analysis.ts'
import { blockAt } from '../../index/segment.ts'
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
} from '../../index/terms.ts'
import type { StoredSignature, StoreReader } from '../../reader.ts'
import { addressIds, type FieldCondition, testOf } from '../fields/field-values.ts'
import { EVERYTHING, NO_DOCUMENTS, type Plan, type Planner } from './plan.ts'
/** Conditions on topics, and on fields that logs or calls of a signature share. */

/** A field that all logs of a signature share; `valuesOf` returns its values. */
export const bySignature =
  (valuesOf: (signature: StoredSignature) => readonly (QueryValue | null)[], of: 'log' | 'call' = 'log'): Planner =>
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

/** The name of an event or a function, whole or by word. */
export const byDeclaredName =
  (of: 'log' | 'call'): Planner =>
  (leaf, reader) => {
    const isWhole = leaf.field.encoding === 'raw'
    if (isWhole && leaf.op === 'in') {
      const named = signaturesByName(reader.signatures(of))
      return ofSignatures(
        leaf.values.flatMap(value => (tooLong(leaf.field, value) ? [] : (named.get(String(value)) ?? []))),
      )
    }
    return bySignature(({ event }) => (event ? (isWhole ? [event.name] : nameWords(event)) : []), of)(leaf, reader)
  }

/** Signatures by declared name. Each reader caches its list until signatures are added. */
const signaturesByName = rememberedBy((signatures: readonly StoredSignature[]) =>
  Map.groupBy(
    signatures.filter(({ event }) => event),
    ({ event }) => event!.name,
  ),
)

/** Caches declarations, since each name needs them. */
const nameWords = rememberedBy((event: EventAbi): readonly string[] => analyzeText(event.name))

export const ofSignatures = (signatures: readonly StoredSignature[]): Plan =>
  signatures.length === 0 ? NO_DOCUMENTS : { by: 'signatures', ids: new Set(signatures.map(({ id }) => id)) }

/** The first topic is the signature's, except for logs that store their own. */
export const firstTopic: Planner = (leaf, reader) => {
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

const SELECTOR_FIELD_ID = fieldId('call', 'selector')

/** The index holds the selectors of undeclared functions themselves. */
export const selector: Planner = (leaf, reader) => {
  if (leaf.op === 'exists') return EVERYTHING
  if (leaf.op !== 'in') return undefined
  const terms = leaf.values.map(value => {
    const { high, low } = reader.hash(String(value))
    return { term: termOf(HASHED + high, SELECTOR_FIELD_ID), fingerprint: low }
  })
  const listed = bySignature(({ topic }) => [topic], 'call')(leaf, reader)
  return { by: 'or', of: [...(listed ? [listed] : []), { by: 'terms', terms }] }
}

export const topics: Planner = (leaf, reader) => {
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
  return possible.length === 0 ? NO_DOCUMENTS : { by: 'or', of: possible }
}

/** Logs with this word as a topic after the first, looked up as an argument of each type. */
const indexedArguments = (word: string, reader: StoreReader): Plan[] => {
  const matches = (term: number, value: string): boolean => {
    const { signature, slot } = argumentOf(fieldOfTerm(term))
    if (reader.signature(signature).of === 'call') return false
    const { event, error } = reader.signature(signature)
    if (!event || error !== null) return value === word
    const input = slot === OVERFLOW_SLOT ? undefined : event.inputs[slot]
    return input?.indexed === true && topicWord(value, input.type) === word
  }
  const digits = word.slice(2)
  const values = new Set([word, `0x${digits.replace(/^0+(?=.)/, '')}`])
  // Fixed bytes are left-aligned in the word; negative integers are shown in their own width.
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

/** The index does not separate arguments that share a slot, so their logs are read. */
const farArguments = (leaf: FieldCondition, reader: StoreReader): Plan => {
  const logs = ofSignatures(
    reader
      .signatures('log')
      .filter(({ event }) => event?.inputs.some(({ indexed }, i) => indexed && i >= OVERFLOW_SLOT)),
  )
  return logs.by === 'none' ? NO_DOCUMENTS : { by: 'and', of: [logs, { by: 'documents', node: leaf }] }
}

/** The 32-byte topic of an indexed argument, from its displayed value in lower case. */
const topicWord = (value: string, type: string): string => {
  const digits = value.slice(2)
  if (/^(bytes\d+|function)$/.test(type)) return `0x${digits.padEnd(64, '0')}`
  const width = /^int(\d+)$/.exec(type)?.[1]
  const negative = width !== undefined && digits.length === Number(width) / 4 && digits[0]! >= '8'
  return `0x${digits.padStart(64, negative ? 'f' : '0')}`
}

/** Conditions on numbers and times of blocks. */

export const blockNumber: Planner = leaf => {
  if (leaf.field.encoding === 'num' || leaf.field.encoding === 'dec') return { by: 'blocks', runs: blockRuns(leaf) }
  if (leaf.op === 'exists') return EVERYTHING
  if (leaf.op !== 'in') {
    const test = testOf(leaf)
    return { by: 'headers', test: (header, index) => test(`0x${blockAt(header, index).toString(16)}`) }
  }
  // `raw` is the number's minimal hex.
  const numbers = leaf.values.flatMap(value => {
    const number = Number(value)
    return Number.isSafeInteger(number) && `0x${number.toString(16)}` === value ? [number] : []
  })
  return { by: 'blocks', runs: numbers.sort((a, b) => a - b).map(number => [number, number]) }
}
export const time: Planner = leaf => {
  const test = testOf(leaf)
  return { by: 'headers', test: ({ times }, index) => test(times[index]! * 1000) }
}
const blockRuns = (leaf: FieldCondition): [number, number][] => {
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

export const planPostings = (
  kind: Kind,
  field: FieldPath,
  leaf: Extract<FieldCondition, { op: 'in' }>,
  reader: StoreReader,
): Plan | undefined => {
  const id = findFieldId(kind, field.field)
  const values = id === undefined ? undefined : postedValues(field, leaf, reader)
  if (id === undefined || !values) return undefined
  return values.length === 0
    ? NO_DOCUMENTS
    : { by: 'terms', terms: values.map(({ value, fingerprint }) => ({ term: termOf(value, id), fingerprint })) }
}
/** Values as index terms; undefined where a kind of field has no such form. See `term` of forms. */
const postedValues = (
  field: FieldPath,
  leaf: Extract<FieldCondition, { op: 'in' }>,
  reader: StoreReader,
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
