import type { Metric, Results } from '../result.ts'
import type { Pipeline } from './pipeline.ts'
import type { Shape } from './tree.ts'

export interface RunOptions {
  /** Called now and then: throws where the search is to be given up. */
  check?: () => void
  /** Told what was found: throws where that is too much. */
  hold?: (found: Metric) => void
}

/**
 * Computes the pipelines of a level and of all below it, and puts what they find into the results: from the innermost level
 * outwards, and in the order of `orderPipelines`. Results and their lists of buckets are changed in place.
 */
export const runPipelines = (
  results: Results,
  aggs: readonly Shape[],
  pipelines: readonly Pipeline[],
  options: RunOptions = {},
): void => {
  for (const agg of aggs) {
    const result = results.get(agg.name)
    if (result === undefined || !hasPipelines(agg)) continue
    if (result.is === 'bucket') runPipelines(result.results, agg.aggs, agg.pipelines, options)
    if (result.is !== 'buckets') continue
    if (agg.aggs.some(hasPipelines)) {
      for (const bucket of result.buckets) runPipelines(bucket.results, agg.aggs, [], options)
    }
    for (const pipeline of agg.pipelines) {
      options.check?.()
      if (pipeline.beside) {
        for (const { results } of result.buckets) {
          options.check?.()
          put(results, pipeline.beside(results), pipeline, options)
        }
      }
      pipeline.inside?.(result, ({ results }, found) => {
        options.check?.()
        put(results, found, pipeline, options)
      })
    }
  }
  for (const pipeline of pipelines) {
    if (pipeline.beside) put(results, pipeline.beside(results), pipeline, options)
  }
}

const put = (results: Results, found: Metric, pipeline: Pipeline, { hold }: RunOptions): void => {
  hold?.(found)
  results.set(pipeline.name, described(found, pipeline))
}

const described = (found: Metric, { meta }: Pipeline): Metric => (meta === undefined ? found : { ...found, meta })

/** Without any, nothing below need be looked at. */
export const hasPipelines = ({ aggs, pipelines }: Pick<Shape, 'aggs' | 'pipelines'>): boolean =>
  pipelines.length > 0 || aggs.some(hasPipelines)
