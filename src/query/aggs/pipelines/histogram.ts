import { refuse } from '../../../lib/errors.ts'
import { CALENDAR_UNITS, type CalendarUnit, parseLength } from '../../dates/calendar.ts'
import { DAY, SECOND } from '../../dates/time-zone.ts'
import {
  bracketName,
  expectKeys,
  type JsonNode,
  toBoolean,
  toText,
  toWhole,
  unexpected,
  where,
} from '../../json-node.ts'
import { type KeyTable, key, nodeKey, optionalKey, readBodyKeys, SCHEMAS, type ValuesOf } from '../../keys.ts'
import type { Format } from '../ast.ts'
import type { Bucket, Metric, ResultMember } from '../result.ts'
import {
  COMMON_PIPELINE_KEYS,
  EXPECTED_PIPELINE,
  onePath,
  type PipelineKind,
  simpleValue,
  valueAtPath,
} from './pipeline.ts'
import { readScript } from './script.ts'

/** Pipeline aggregations inside of a histogram, which go along its buckets. */

/** Called for each bucket in order. */
type Along = (value: number | undefined, bucket: Bucket) => Metric | undefined

const alongHistogram = <const K extends KeyTable>(
  doc: string,
  keys: K,
  read: (options: ValuesOf<K>, format: Format, place: JsonNode) => (values: () => (number | undefined)[]) => Along,
  example: object = {},
): PipelineKind => ({
  doc,
  example: { buckets_path: 'gas', ...example },
  stands: 'in histogram',
  read(place) {
    const { gap_policy, ...common } = COMMON_PIPELINE_KEYS
    // Pipelines without a gap policy count gaps as 0.
    const takesGaps = Object.keys(keys).length > 0
    const all = { ...common, ...keys, ...(takesGaps && { gap_policy }) }
    const body = readBodyKeys(place, EXPECTED_PIPELINE, all, []) as ValuesOf<typeof COMMON_PIPELINE_KEYS> & ValuesOf<K>
    const gaps = takesGaps ? body.gap_policy : 'insert_zeros'
    const path = onePath(place, body.buckets_path)
    const start = read(body, body.format, place)
    return {
      paths: [path],
      inside({ buckets }, put) {
        const along = start(() => buckets.map(bucket => valueAtPath(bucket, path, gaps)))
        for (const bucket of buckets) {
          const found = along(valueAtPath(bucket, path, gaps), bucket)
          if (found) put(bucket, found)
        }
      },
    }
  },
})

export const cumulativeSum = alongHistogram('The running total, including the bucket.', {}, (_, format) => () => {
  let sum = 0
  return value => {
    sum += value ?? 0
    return simpleValue(sum, format)
  }
})

const derivativeUnit = (place: JsonNode): number => {
  const text = toText(place, 'a unit, such as "1h"')
  const calendar = CALENDAR_UNITS.get(text)
  const length = calendar ? (MEAN[calendar.name] ?? calendar.least) : parseLength(text)
  if (length !== undefined && length > 0) return length
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: failed to parse ${bracketName(text)} as a time value. Write a length such as "90m" or a unit of the calendar such as "day".`,
  )
}

/** A mean year has 365.2425 days. */
const YEAR = 365.2425 * DAY
const MEAN: Partial<Record<CalendarUnit['name'], number>> = {
  month: YEAR / 12,
  quarter: YEAR / 4,
  year: YEAR,
  second: SECOND,
}

export const derivative = alongHistogram(
  'The difference to the previous bucket; with `unit`, also per unit of time.',
  { unit: optionalKey(derivativeUnit, SCHEMAS.text) },
  ({ unit }, format) =>
    () => {
      let [last, lastKey]: [number | undefined, number] = [undefined, 0]
      return (value, { number = 0 }) => {
        const before = last
        const units = unit === undefined ? undefined : (number - lastKey) / unit
        ;[last, lastKey] = [value, number]
        if (before === undefined || value === undefined) return undefined
        const found = simpleValue(value - before, format, 'derivative')
        return units === undefined ? found : normalized(found, simpleValue((value - before) / units, format))
      }
    },
  { unit: '1h' },
)

const normalized = (found: Metric, perUnit: Metric): Metric => ({
  ...found,
  body: [...found.body, ...perUnit.body.map(([name, value]): ResultMember => [`normalized_${name}`, value])],
  number: rest => (rest === 'normalized_value' ? perUnit.number(undefined) : found.number(rest)),
})

const lag = key(place => {
  const lag = place === undefined ? 1 : toWhole(place, LAG)
  if (lag < 1) throw unexpected(place!, LAG)
  return lag
}, SCHEMAS.whole)
const LAG = 'a positive, non-zero integer'

export const serialDiff = alongHistogram(
  'The difference to the bucket `lag` places earlier.',
  { lag },
  ({ lag }, format) =>
    () => {
      const before: (number | undefined)[] = []
      return value => {
        const earlier = before.length < lag ? undefined : before.shift()
        before.push(value)
        const difference = (value ?? Number.NaN) - (earlier ?? Number.NaN)
        return Number.isNaN(difference) ? undefined : simpleValue(difference, format)
      }
    },
  { lag: 7 },
)

export const movingFn = alongHistogram(
  'A function over the numbers of the previous `window` buckets, one of `MovingFunctions`: max, min, sum, stdDev, unweightedAvg and linearWeightedAvg.',
  { script: nodeKey, window: nodeKey, shift: optionalKey(place => toWhole(place, 'an integer'), SCHEMAS.whole) },
  ({ script, window, shift: by = 0 }, format, place) => {
    const size = windowOf(window, place)
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
  const size = toWhole(given, EXPECTED_WINDOW)
  if (size < 1 || size > WIDEST) throw unexpected(given, EXPECTED_WINDOW)
  return size
}

const WIDEST = 65_536
const EXPECTED_WINDOW = `an integer from 1 to ${WIDEST}`

type MovingFunction = (values: readonly number[]) => number

const functionOf = (given: JsonNode | undefined, place: JsonNode): MovingFunction => {
  if (given === undefined) throw refuse('illegal_argument_exception', `${where(place)}: Required [script].`)
  const { text, at } = readScript(given)
  const call = text.replaceAll(/\s+/g, '').replace(/^return(?=Moving)|;$/g, '')
  const moving = FUNCTIONS.get(call.replaceAll('MovingFunctions.', ''))
  if (moving && call.startsWith('MovingFunctions.')) return moving
  throw refuse(
    'illegal_argument_exception',
    `${where(at)}: this script is not supported. A moving_fn takes one call of MovingFunctions: ${[...FUNCTIONS.keys()].join(', ')}.`,
  )
}

const total: MovingFunction = values => values.reduce((sum, value) => sum + value, 0)

const unweightedAvg: MovingFunction = values => (values.length === 0 ? Number.NaN : total(values) / values.length)

const linearWeightedAvg: MovingFunction = values => {
  // Elasticsearch adds 1 to the sum of weights.
  const weights = 1 + (values.length * (values.length + 1)) / 2
  return values.length === 0 ? Number.NaN : total(values.map((value, i) => value * (i + 1))) / weights
}

const stdDev: MovingFunction = values => {
  const mean = unweightedAvg(values)
  return Math.sqrt(total(values.map(value => (value - mean) ** 2)) / values.length)
}

const movingExtreme =
  (pick: (a: number, b: number) => number): MovingFunction =>
  values =>
    values.length === 0 ? Number.NaN : values.reduce((a, b) => pick(a, b))

const MODELS = { simple: unweightedAvg, linear: linearWeightedAvg } satisfies Record<string, MovingFunction>

const model = key((place): keyof typeof MODELS => {
  const name = place === undefined ? 'simple' : toText(place, 'a model')
  if (Object.hasOwn(MODELS, name)) return name as keyof typeof MODELS
  throw refuse(
    'parsing_exception',
    `${where(place!)}: the model ${bracketName(name)} is not supported. Models are ${Object.keys(MODELS).join(', ')}.`,
  )
}, SCHEMAS.text)

const noSettings = optionalKey(place => expectKeys(place, 'settings', [], []), { type: 'object' })
const notMinimized = optionalKey(place => {
  if (toBoolean(place))
    throw refuse('illegal_argument_exception', `${where(place)}: this model has no settings to minimize. Leave it out.`)
}, SCHEMAS.flag)

const noPredictions = optionalKey(place => {
  if (toWhole(place, 'an integer') > 0)
    throw refuse('illegal_argument_exception', `${where(place)}: predictions are not supported. Leave them out.`)
}, SCHEMAS.whole)

export const movingAvg = alongHistogram(
  'The mean of the previous `window` buckets, by the model simple or linear. Deprecated in Elasticsearch 7: use moving_fn.',
  { model, window: nodeKey, predict: noPredictions, minimize: notMinimized, settings: noSettings },
  ({ model, window }, format, place) => {
    const size = window === undefined ? 5 : windowOf(window, place)
    return () => {
      const numbers: number[] = []
      return value => {
        if (value === undefined || Number.isNaN(value)) return undefined
        const found = numbers.length > 0 ? simpleValue(MODELS[model](numbers), format) : undefined
        if (numbers.push(value) > size) numbers.shift()
        return found
      }
    }
  },
  { window: 7, model: 'linear' },
)

const FUNCTIONS: ReadonlyMap<string, MovingFunction> = new Map([
  ['max(values)', movingExtreme(Math.max)],
  ['min(values)', movingExtreme(Math.min)],
  ['sum(values)', total],
  ['stdDev(values,unweightedAvg(values))', stdDev],
  ['unweightedAvg(values)', unweightedAvg],
  ['linearWeightedAvg(values)', linearWeightedAvg],
])
