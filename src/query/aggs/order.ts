import { refuse } from '../../lib/errors.ts'
import { elements, type JsonNode, members, unexpected, where } from '../json-node.ts'
import { direction } from '../keys.ts'
import type { Aggregation, OrderBy } from './ast.ts'
/** `{"_count": "desc"}` or a list of such; the key decides at last. */
export const readOrder = (place: JsonNode | undefined, fallback: readonly OrderBy[]): readonly OrderBy[] => {
  if (place === undefined) return fallback
  const orders = elements(place).flatMap(at => {
    const given = members(at, 'an object such as {"_count": "desc"}')
    if (given.length !== 1) throw unexpected(at, 'an object with one key, or a list of such')
    return given.map(
      ([by, place]): OrderBy => ({ by: OLD_ORDER_NAMES.get(by) ?? by, ascending: direction(place) === 'asc' }),
    )
  })
  return orders.length === 0 ? fallback : orders
}

const OLD_ORDER_NAMES: ReadonlyMap<string, string> = new Map([
  ['_term', '_key'],
  ['_time', '_key'],
])

/** The steps of a path such as `a>b[95.0]` or `a.avg`; `rest` names one number of several. */
export const parseMetricPath = (path: string): { steps: string[]; rest: string | undefined } => {
  const steps = path.split('>').map(step => step.trim())
  const last = steps.pop()!
  const bracket = /^(.+)\[([^\]]*)\]$/.exec(last)
  if (bracket) return { steps: [...steps, bracket[1]!], rest: bracket[2]! }
  const dot = last.indexOf('.')
  return dot < 0
    ? { steps: [...steps, last], rest: undefined }
    : { steps: [...steps, last.slice(0, dot)], rest: last.slice(dot + 1) }
}

/** Refuses order paths that lead to no number. */
export const checkBucketOrder = (place: JsonNode, order: readonly OrderBy[], aggs: readonly Aggregation[]): void => {
  for (const { by } of order) {
    if (by === '_count' || by === '_key') continue
    const bad = (why: string) =>
      refuse(
        'aggregation_execution_exception',
        `${where(place)}: Invalid aggregation order path [${by}]. ${why} Order by _count, _key, or an aggregation inside that gives one number, such as {"the_sum": "desc"}.`,
      )
    let inside = aggs
    const { steps, rest } = parseMetricPath(by)
    for (const [i, step] of steps.entries()) {
      const found = inside.find(({ name }) => name === step)
      const isLast = i === steps.length - 1
      if (isLast && step === '_count' && i > 0) break
      if (!found) throw bad(`The aggregation [${step}] is not there.`)
      const { gives } = found
      if (!isLast && gives !== 'bucket') throw bad(`[${step}] has several buckets.`)
      if (!isLast || (gives === 'bucket' && (rest === undefined || rest === 'doc_count' || rest === '_count'))) {
        inside = found.aggs
        continue
      }
      const needsName = gives === 'numbers'
      if (found.spec.kind === 'rate' && !found.spec.isEven)
        throw bad(`[${step}] is a rate of months, which differ in length.`)
      if (needsName && rest === undefined)
        throw bad(`[${step}] gives several numbers: name one, such as [${step}.avg].`)
      if (!needsName && gives !== 'number') throw bad(`[${step}] gives no number.`)
      if (!needsName && rest !== undefined && rest !== 'value') throw bad(`[${step}] gives one number only.`)
    }
  }
}
