import { refuse } from '../../../lib/errors.ts'
import { integer, type JsonNode, unexpected, where } from '../../json-node.ts'
import { alongHistogram } from './inside.ts'
import { extremeOf, MOVING, type MovingFunction } from './moving-functions.ts'
import { simpleValue } from './pipeline.ts'
import { readSource } from './source.ts'

export const movingFn = alongHistogram(
  'A function over the numbers of the previous `window` buckets, one of `MovingFunctions`: max, min, sum, stdDev, unweightedAvg, linearWeightedAvg, ewma, holt, holtWinters.',
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

export const windowOf = (given: JsonNode | undefined, place: JsonNode): number => {
  if (given === undefined) throw refuse('illegal_argument_exception', `${where(place)}: Required [window].`)
  const size = integer(given, EXPECTED)
  if (size < 1 || size > WIDEST) throw unexpected(given, EXPECTED)
  return size
}

/** As many buckets as a search answers. */
const WIDEST = 65_536
const EXPECTED = `an integer from 1 to ${WIDEST}`

const functionOf = (given: JsonNode | undefined, place: JsonNode): MovingFunction => {
  if (given === undefined) throw refuse('illegal_argument_exception', `${where(place)}: Required [script].`)
  const { text, params, at } = readSource(given)
  const [, name = '', list = ''] = CALL.exec(text) ?? []
  const make = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name as keyof typeof FUNCTIONS] : undefined
  const [values, ...rest] = list.split(',').map(one => one.trim())
  const numbers = rest.map(one => {
    const param = /^params\.(\w+)$/.exec(one)?.[1]
    return param === undefined ? literal(one) : params.get(param)
  })
  const isMean = name === 'stdDev' && /^MovingFunctions\.unweightedAvg\(values\)$/.test(rest.join())
  const moving = values === 'values' ? make?.(isMean ? [] : numbers, where(at)) : undefined
  if (moving) return moving
  throw refuse(
    'illegal_argument_exception',
    `${where(at)}: this script is not supported. A moving_fn takes one call: ${CALLS.join(', ')}; numbers may be params such as params.alpha.`,
  )
}

const CALL = /^(?:return\s+)?MovingFunctions\.(\w+)\s*\(((?:[^()]|\(values\))*)\)\s*;?$/

const literal = (text: string): number | boolean | undefined =>
  /^-?\d+(?:\.\d+)?(?:[eE]-?\d+)?[dDfF]?$/.test(text)
    ? Number.parseFloat(text)
    : text === 'true' || text === 'false'
      ? text === 'true'
      : undefined

type Argument = number | boolean | undefined
type Make = (given: readonly Argument[], at: string) => MovingFunction | undefined

const plain =
  (moving: MovingFunction): Make =>
  given =>
    given.length === 0 ? moving : undefined

const withNumbers =
  (count: number, make: (...numbers: number[]) => MovingFunction): Make =>
  given =>
    given.length === count && given.every(one => typeof one === 'number') ? make(...given) : undefined

const FUNCTIONS = {
  max: plain(extremeOf(Math.max)),
  min: plain(extremeOf(Math.min)),
  sum: plain(MOVING.sum),
  stdDev: plain(MOVING.stdDev),
  unweightedAvg: plain(MOVING.unweightedAvg),
  linearWeightedAvg: plain(MOVING.linearWeightedAvg),
  ewma: withNumbers(1, MOVING.ewma),
  holt: withNumbers(2, MOVING.holt),
  holtWinters: ([alpha, beta, gamma, period, multiplicative, ...more], at) =>
    more.length === 0 &&
    typeof alpha === 'number' &&
    typeof beta === 'number' &&
    typeof gamma === 'number' &&
    typeof period === 'number' &&
    Number.isInteger(period) &&
    period >= 1 &&
    typeof multiplicative === 'boolean'
      ? MOVING.holtWinters({ alpha, beta, gamma, period, multiplicative, at })
      : undefined,
} satisfies Record<string, Make>

const CALLS = [
  'MovingFunctions.max(values)',
  'min(values)',
  'sum(values)',
  'stdDev(values, MovingFunctions.unweightedAvg(values))',
  'unweightedAvg(values)',
  'linearWeightedAvg(values)',
  'ewma(values, alpha)',
  'holt(values, alpha, beta)',
  'holtWinters(values, alpha, beta, gamma, period, multiplicative)',
]
