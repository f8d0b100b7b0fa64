import { refuse } from '../../../lib/errors.ts'
import { integer, type JsonNode, unexpected, where } from '../../json-node.ts'
import { alongHistogram } from './inside.ts'
import { simpleValue } from './pipeline.ts'
import { readSource } from './source.ts'

export const movingFn = alongHistogram(
  'A function over the numbers of the previous `window` buckets, one of `MovingFunctions`: max, min, sum, stdDev, unweightedAvg and linearWeightedAvg.',
  ['script', 'window', 'shift', 'gap_policy'],
  ({ script, window, shift }, format, place) => {
    const size = windowOf(window, place)
    const by = shift === undefined ? 0 : integer(shift, 'an integer')
    const moving = functionOf(script, place)
    return values => {
      const numbers = values().filter(value => value !== undefined && !Number.isNaN(value)) as number[]
      const within = (at: number) => Math.min(Math.max(at, 0), numbers.length)
      let index = 0
      return value => {
        if (value === undefined || Number.isNaN(value)) return undefined
        const found = moving(numbers.slice(within(index - size + by), within(index + by)))
        index++
        return simpleValue(found, format)
      }
    }
  },
  { window: 7, script: 'MovingFunctions.unweightedAvg(values)' },
)

const windowOf = (given: JsonNode | undefined, place: JsonNode): number => {
  if (given === undefined) throw refuse('illegal_argument_exception', `${where(place)}: Required [window].`)
  const size = integer(given, EXPECTED)
  if (size < 1 || size > WIDEST) throw unexpected(given, EXPECTED)
  return size
}

/** As many buckets as a search answers. */
const WIDEST = 65_536
const EXPECTED = `an integer from 1 to ${WIDEST}`

type MovingFunction = (values: readonly number[]) => number

const functionOf = (given: JsonNode | undefined, place: JsonNode): MovingFunction => {
  if (given === undefined) throw refuse('illegal_argument_exception', `${where(place)}: Required [script].`)
  const { text, at } = readSource(given)
  const call = text.replaceAll(/\s+/g, '').replace(/^return(?=Moving)|;$/g, '')
  const moving = FUNCTIONS.get(call.replaceAll('MovingFunctions.', ''))
  if (moving && call.startsWith('MovingFunctions.')) return moving
  throw refuse(
    'illegal_argument_exception',
    `${where(at)}: this script is not supported. A moving_fn takes one call of MovingFunctions: ${[...FUNCTIONS.keys()].join(', ')}.`,
  )
}

const sum: MovingFunction = values => values.reduce((sum, value) => sum + value, 0)

const unweightedAvg: MovingFunction = values => (values.length === 0 ? Number.NaN : sum(values) / values.length)

const linearWeightedAvg: MovingFunction = values => {
  // Elasticsearch counts one more than the weights add up to.
  const weights = 1 + (values.length * (values.length + 1)) / 2
  return values.length === 0 ? Number.NaN : sum(values.map((value, i) => value * (i + 1))) / weights
}

const stdDev: MovingFunction = values => {
  const mean = unweightedAvg(values)
  return Math.sqrt(sum(values.map(value => (value - mean) ** 2)) / values.length)
}

const extreme =
  (pick: (a: number, b: number) => number): MovingFunction =>
  values =>
    values.length === 0 ? Number.NaN : values.reduce((a, b) => pick(a, b))

const FUNCTIONS: ReadonlyMap<string, MovingFunction> = new Map([
  ['max(values)', extreme(Math.max)],
  ['min(values)', extreme(Math.min)],
  ['sum(values)', sum],
  ['stdDev(values,unweightedAvg(values))', stdDev],
  ['unweightedAvg(values)', unweightedAvg],
  ['linearWeightedAvg(values)', linearWeightedAvg],
])
