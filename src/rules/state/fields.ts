import type { AbiParam } from '../../decode/types.ts'
import type { Kind } from '../../mapping/index.ts'
import { type ComparedDocument, type ComparedValue, facesAt, isAttribute, NO_FACES } from '../../query/compare.ts'
import { shortenText } from '../../query/json.ts'
import { quotedList } from '../input.ts'

/** A reading as `_source`, in the encodings of other documents. */
export type StateReading = Record<string, unknown>

/** Fields of a reading, each compared as a field of another kind of document. */
const STATE_FIELDS: Readonly<Record<string, readonly [kind: Kind, field: string]>> = {
  address: ['event', 'address'],
  call: ['event', 'event'],
  blockNumber: ['event', 'blockNumber'],
  blockHash: ['event', 'blockHash'],
  timestamp: ['block', 'timestamp'],
  value: ['tx', 'value'],
  result: ['event', 'args'],
  changed: ['tx', 'status'],
  error: ['trace', 'error'],
}

export const STATE_FIELD_NAMES: readonly string[] = [...Object.keys(STATE_FIELDS), 'previous']

/** Names of a condition and the `Inspect`s around it, step by step. */
export const stateSteps = (names: readonly string[]): string[] => names.join('.').split('.')

export interface Comparing {
  outputs: readonly AbiParam[]
  decimals: number | null
}

/** Undefined if a reading has nothing there. */
export const stateFaces = (
  [name = '', ...rest]: readonly string[],
  scaled: boolean,
  { outputs, decimals }: Comparing,
): ((reading: StateReading) => readonly ComparedValue[]) | undefined => {
  if (name === 'previous') {
    const inner = rest[0] === 'previous' ? undefined : stateFaces(rest, scaled, { outputs, decimals })
    return inner && (({ previous }) => (previous ? inner(previous as StateReading) : NO_FACES))
  }
  if (!Object.hasOwn(STATE_FIELDS, name)) return undefined
  const [kind, field] = STATE_FIELDS[name]!
  if (!isAttribute([field, ...rest], kind)) return undefined
  const faces = facesAt([field, ...rest], scaled, kind)
  const decoding = { inputs: outputs, decimals }
  return reading => faces({ _source: { [field]: reading[name] }, decoding } as unknown as ComparedDocument)
}

/** Describes the fault in a condition's names, if any. */
export const stateAttributeFault = (names: readonly string[]): string | undefined => {
  const steps = stateSteps(names)
  if (stateFaces(steps, false, { outputs: [], decimals: null })) return undefined
  return `A reading has no attribute "${shortenText(steps.join('.'))}" to compare: it has ${quotedList(STATE_FIELD_NAMES)}.`
}
