import type { RuleConfig } from '../../../rules/rule.ts'
import { type Json, ownEntry, textAt, valueAt } from '../../api/json.ts'
import type { Alert } from '../../api/wire.ts'
import { countText } from '../../parts/format.ts'
import { plainName } from './condition-rows.ts'

type RuleWindowConditions = Extract<RuleConfig['when'], { conditions: unknown }>['conditions']
export type WindowAggregate = RuleWindowConditions[number]['aggregate']

/** What a window computes: as a choice, and before the name of a field. */
const AGGREGATE_WORDS: Record<WindowAggregate, readonly [choice: string, before: string]> = {
  Count: ['number of matches', ''],
  Sum: ['sum', 'sum of'],
  Minimum: ['lowest', 'lowest'],
  Maximum: ['highest', 'highest'],
  Average: ['average', 'average'],
  Distinct: ['number of different', 'number of different'],
  First: ['for the first time', 'new'],
}

export const AGGREGATE_CHOICES = Object.entries(AGGREGATE_WORDS).map(([value, [label]]) => ({ value, label }))

/** Amounts in units are values of their argument. */
export const isInUnits = (name: string): boolean => /^args\..+\.scaled$/.test(name)
export const unitless = (name: string): string => (isInUnits(name) ? name.slice(0, -'.scaled'.length) : name)

export const fieldWords = (name: string): string => plainName(unitless(name).split('.'))

/** `sum of value`, or `number of matches`. */
export const measureWords = (aggregate: string, name: string): string => {
  const [choice, before] = ownEntry(AGGREGATE_WORDS, aggregate) ?? [aggregate, aggregate]
  return aggregate === 'Count' ? choice : `${before} ${fieldWords(name)}`
}

const UNIT_LENGTHS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** The longest unit that is contained without a rest. */
export const unitOf = (seconds: number) => UNIT_LENGTHS.find(([, length]) => seconds % length === 0) ?? UNIT_LENGTHS[3]

/** `10 minutes`, `50 blocks`; empty if it is neither. */
export const spanWords = (span: Json | undefined): string => {
  const [blocks, seconds] = [valueAt(span, 'blocks'), valueAt(span, 'seconds')]
  if (typeof blocks === 'number') return countText(blocks, 'block')
  if (typeof seconds !== 'number') return ''
  const [unit, length] = unitOf(seconds)
  return countText(seconds / length, unit)
}

/** Units of a span; blocks have no length. */
export const SPAN_UNITS: readonly { unit: string; length: number }[] = [
  { unit: 'block', length: 0 },
  ...UNIT_LENGTHS.toReversed().map(([unit, length]) => ({ unit, length })),
]

/** Whether it holds for no match alone. */
export const isNone = (condition: Json | undefined): boolean => {
  if (valueAt(condition, 'relativeTo') !== undefined) return false
  const [operator, value] = [textAt(condition, 'operator'), textAt(condition, 'value')]
  return operator === 'Less' ? value === '1' : (operator === 'Equals' || operator === 'Less or Equal') && value === '0'
}

/** Groups digits, and keeps all of them. */
export const readableNumber = (text: string): string => {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d{1,77})(\.\d+)?$/.exec(text) ?? []
  return whole === undefined ? text : `${sign}${BigInt(whole).toLocaleString()}${fraction.replace(/\.?0+$/, '')}`
}

type ShownWindow = Alert['when'] & {}

/** `sum of value 1,250,000, number of matches 4`. */
export const valuesWords = (values: ShownWindow['conditions']): string =>
  values
    .map(
      ({ aggregate, name = '', value }) =>
        `${aggregate === undefined ? plainName([name]) : measureWords(aggregate, name)} ${value === null ? 'none' : readableNumber(value)}`,
    )
    .join(', ')

/** Where the steps of a sequence came, such as `block 12 → block 15 → none`. */
const stepsWords = (steps: ShownWindow['steps'] & {}): string =>
  steps.map(it => ('block' in it ? blockWords(it) : 'none')).join(' → ')

/** `block 1,230`, with the network if it is named. */
const blockWords = ({ block, network }: { block: number; network?: string | undefined }): string =>
  `block ${block.toLocaleString()}${network === undefined ? '' : ` of ${network}`}`

/** What an alert was made of. */
export const foundWords = ({ steps, conditions }: Pick<ShownWindow, 'steps' | 'conditions'>): string =>
  steps ? stepsWords(steps) : valuesWords(conditions)

/** The state of an alert; that of windows is open until its conditions hold no longer, that of steps has no end. */
export const stateWords = ({ state, when }: Pick<Alert, 'state' | 'when'>): string => {
  const hasEnd = when?.steps === undefined && when?.conditions.every(({ aggregate }) => aggregate !== 'First')
  if (state === 'resolved') return 'ended'
  if (state !== 'confirmed' || !hasEnd) return state
  return when?.ended ? 'ending' : 'open'
}
