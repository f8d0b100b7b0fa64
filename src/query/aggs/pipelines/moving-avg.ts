import { refuse } from '../../../lib/errors.ts'
import { boolean, integer, type JsonNode, known, named, string, unexpected, where } from '../../json-node.ts'
import { readDouble } from '../../numbers.ts'
import { alongHistogram } from './inside.ts'
import { windowOf } from './moving-fn.ts'
import { MOVING, type MovingFunction } from './moving-functions.ts'
import { simpleValue } from './pipeline.ts'

export const movingAvg = alongHistogram(
  'A moving average over the previous buckets, by a model: simple, linear, ewma, holt, or holt_winters with minimize false. Deprecated in Elasticsearch 7: use moving_fn.',
  ['model', 'settings', 'window', 'minimize', 'predict', 'gap_policy'],
  ({ model, settings, window, minimize, predict }, format, place) => {
    if (predict && integer(predict, 'an integer') > 0) {
      throw refuse('illegal_argument_exception', `${where(predict)}: predictions are not supported. Leave them out.`)
    }
    const size = window === undefined ? 5 : windowOf(window, place)
    const { moving, least } = modelOf(model, settings, minimize, size, place)
    return () => {
      const numbers: number[] = []
      return value => {
        if (value === undefined || Number.isNaN(value)) return undefined
        const found = numbers.length >= least ? simpleValue(moving(numbers), format) : undefined
        if (numbers.push(value) > size) numbers.shift()
        return found
      }
    }
  },
  { window: 7, model: 'ewma', settings: { alpha: 0.5 } },
)

/** `least`: how many numbers a model needs. */
interface Model {
  moving: MovingFunction
  least: number
}

const modelOf = (
  given: JsonNode | undefined,
  settings: JsonNode | undefined,
  minimize: JsonNode | undefined,
  window: number,
  place: JsonNode,
): Model => {
  const name = given === undefined ? 'simple' : string(given, 'a model')
  const isMinimized = minimize === undefined ? name === 'holt_winters' : boolean(minimize)
  if (isMinimized) {
    throw refuse(
      'illegal_argument_exception',
      `${where(minimize ?? given ?? place)}: settings that are found by random search are not supported. Write "minimize": false and the settings alpha, beta, gamma.`,
    )
  }
  const read = (names: readonly string[]) => {
    const found: Partial<Record<string, JsonNode>> = settings ? known(settings, 'settings', names, []) : {}
    return (key: string, fallback: number): number => {
      const at = found[key]
      const value = at === undefined ? fallback : readDouble(at)
      if (value < 0 || value > 1) throw unexpected(at!, 'a number from 0 to 1')
      return value
    }
  }
  switch (name) {
    case 'simple':
      read([])
      return { moving: MOVING.unweightedAvg, least: 1 }
    case 'linear':
      read([])
      return { moving: MOVING.linearWeightedAvg, least: 1 }
    case 'ewma':
      return { moving: MOVING.ewma(read(['alpha'])('alpha', 0.3)), least: 1 }
    case 'holt': {
      const setting = read(['alpha', 'beta'])
      return { moving: MOVING.holt(setting('alpha', 0.3), setting('beta', 0.1)), least: 1 }
    }
    case 'holt_winters':
      return holtWinters(settings, window, read(['alpha', 'beta', 'gamma', 'period', 'type', 'pad']))
  }
  throw refuse(
    'parsing_exception',
    `${where(given!)}: no [moving_avg_model] registered for ${named(name)}. Models are simple, linear, ewma, holt, holt_winters.`,
  )
}

const holtWinters = (
  settings: JsonNode | undefined,
  window: number,
  setting: (key: string, fallback: number) => number,
): Model => {
  const { period: place, type, pad } = settings ? known(settings, 'settings', KEYS, []) : {}
  const period = place === undefined ? 1 : integer(place, 'an integer')
  if (period < 1) throw unexpected(place!, 'a positive integer')
  if (window < 2 * period) {
    throw refuse(
      'action_request_validation_exception',
      `${settings ? where(settings) : 'moving_avg'}: Field [window] must be at least twice as large as the period when using Holt-Winters. Value provided was [${window}], which is less than (2*period) == ${2 * period}.`,
    )
  }
  const kind = type === undefined ? 'add' : string(type, '"add" or "mult"')
  if (kind !== 'add' && kind !== 'mult') throw unexpected(type!, '"add" or "mult"')
  if (kind === 'mult' && pad !== undefined && !boolean(pad)) throw unexpected(pad, 'true, with the type "mult"')
  const moving = MOVING.holtWinters({
    alpha: setting('alpha', 0.3),
    beta: setting('beta', 0.1),
    gamma: setting('gamma', 0.3),
    period,
    multiplicative: kind === 'mult',
    at: settings ? where(settings) : 'moving_avg',
  })
  return { moving, least: 2 * period }
}

const KEYS = ['alpha', 'beta', 'gamma', 'period', 'type', 'pad'] as const
