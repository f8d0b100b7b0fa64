import { refuse } from '../../../lib/errors.ts'
import { bracketName, where } from '../../json-node.ts'
import type { Gives } from '../ast.ts'
import type { AggregationResults, Metric } from '../result.ts'
import { type BucketsPath, type PathStep, type PipelineAggregation, severalNumbers } from './pipeline.ts'

export interface AggregationShape {
  readonly name: string
  readonly spec: { readonly kind: string; readonly minDocCount?: number }
  readonly gives: Gives
  readonly aggs: readonly AggregationShape[]
  readonly pipelines: readonly PipelineAggregation[]
}

/** Orders pipelines by dependency; refuses wrong paths and places. `parent`: none at the root. */
export const orderPipelines = (
  pipelines: readonly PipelineAggregation[],
  aggs: readonly AggregationShape[],
  parent: Pick<AggregationShape, 'spec' | 'gives'> | undefined,
): PipelineAggregation[] => {
  const ordered: PipelineAggregation[] = []
  const open = new Set<PipelineAggregation>()
  const visit = (pipeline: PipelineAggregation) => {
    if (ordered.includes(pipeline)) return
    if (open.has(pipeline)) {
      throw invalidPipeline(
        pipeline,
        `Cyclical dependency found with pipeline aggregator ${bracketName(pipeline.name)}`,
      )
    }
    open.add(pipeline)
    for (const path of pipeline.paths) {
      if (path.text === '_count' || path.text === '_key') continue
      const [{ name }] = path.steps as readonly [PathStep, ...PathStep[]]
      const agg = aggs.find(agg => agg.name === name)
      const other = pipelines.find(pipeline => pipeline.name === name)
      if (agg) checkPath(path, agg, pipeline)
      else if (other && path.steps.length === 1) visit(other)
      else throw invalidPipeline(pipeline, `No aggregation found for path ${bracketName(path.text)}`)
    }
    ordered.push(pipeline)
  }
  for (const pipeline of pipelines) {
    checkStand(pipeline, aggs, parent)
    visit(pipeline)
  }
  return ordered
}

const invalidPipeline = ({ place }: PipelineAggregation, why: string) =>
  refuse('action_request_validation_exception', `${where(place)}: Validation Failed: ${why}.`)

/** Checks that each step exists and that the last is a number. */
const checkPath = (path: BucketsPath, first: AggregationShape, { stands }: PipelineAggregation): void => {
  let agg = first
  for (const [i, { name, key }] of path.steps.entries()) {
    const isLast = i === path.steps.length - 1
    if (i > 0) {
      if (isLast && (name === '_count' || name === '_key')) return
      const inner = agg.aggs.find(inner => inner.name === name)
      if (!inner) {
        if (isLast && agg.pipelines.some(pipeline => pipeline.name === name)) return
        throw refuse(
          'action_request_validation_exception',
          `${where(path.place)}: Validation Failed: No aggregation ${bracketName(name)} found for path ${bracketName(path.text)}.`,
        )
      }
      agg = inner
    }
    // Siblings read all buckets of the first step.
    const isSibling = i === 0 && stands === 'sibling'
    if (agg.gives === 'numbers' && key === undefined && isLast) throw severalNumbers(path)
    if (agg.gives === 'buckets' && !isSibling && key === undefined) throw severalBuckets(path, agg)
  }
}

const severalBuckets = (path: BucketsPath, { name }: AggregationShape) =>
  refuse(
    'aggregation_execution_exception',
    `${where(path.place)}: buckets_path must reference either a number value or a single value numeric metric aggregation, but [${name}] in ${bracketName(path.text)} has several buckets. Name one, as in [${name}['its key']>the_sum].`,
  )

const checkStand = (
  pipeline: PipelineAggregation,
  aggs: readonly AggregationShape[],
  parent: Pick<AggregationShape, 'spec' | 'gives'> | undefined,
): void => {
  const { name, type, stands, paths } = pipeline
  if (stands === 'sibling') {
    const first = paths[0]!.steps[0]!.name
    const agg = aggs.find(agg => agg.name === first)
    if (first === '_count' || first === '_key') {
      throw invalidPipeline(
        pipeline,
        `buckets_path aggregation does not exist for aggregation ${bracketName(name)}: ${bracketName(first)}`,
      )
    }
    if (agg && (agg.gives !== 'buckets' || agg.spec.kind === 'composite')) {
      throw invalidPipeline(
        pipeline,
        `The first aggregation in buckets_path must be a multi-bucket aggregation for aggregation ${bracketName(name)}, found [${agg.spec.kind}] for buckets path ${bracketName(paths[0]!.text)}`,
      )
    }
    return
  }
  if (stands === 'in histogram') {
    if (!parent || !HISTOGRAMS.has(parent.spec.kind)) {
      throw invalidPipeline(
        pipeline,
        `${type} aggregation ${bracketName(name)} must have a histogram, date_histogram or auto_date_histogram as parent`,
      )
    }
    if (parent.spec.minDocCount !== undefined && parent.spec.minDocCount !== 0) {
      throw invalidPipeline(
        pipeline,
        `parent histogram of ${type} aggregation ${bracketName(name)} must have min_doc_count of 0`,
      )
    }
    return
  }
  if (!parent)
    throw invalidPipeline(
      pipeline,
      `${type} aggregation ${bracketName(name)} must be declared inside of another aggregation`,
    )
  if (parent.gives !== 'buckets') {
    throw invalidPipeline(
      pipeline,
      `${type} aggregation ${bracketName(name)} must be inside of an aggregation with several buckets`,
    )
  }
}

const HISTOGRAMS: ReadonlySet<string> = new Set(['histogram', 'date_histogram', 'auto_date_histogram'])

interface RunOptions {
  /** Throws if the search is cancelled. */
  check?: () => void
  /** Throws if results take too much memory. */
  hold?: (found: Metric) => void
}

/** Computes pipelines from the innermost level outwards; mutates results and bucket lists. */
export const runPipelines = (
  results: AggregationResults,
  aggs: readonly AggregationShape[],
  pipelines: readonly PipelineAggregation[],
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
      if (pipeline.sibling) {
        for (const { results } of result.buckets) {
          options.check?.()
          putMetric(results, pipeline.sibling(results), pipeline, options)
        }
      }
      pipeline.inside?.(result, ({ results }, found) => {
        options.check?.()
        putMetric(results, found, pipeline, options)
      })
    }
  }
  for (const pipeline of pipelines) {
    if (pipeline.sibling) putMetric(results, pipeline.sibling(results), pipeline, options)
  }
}

const putMetric = (
  results: AggregationResults,
  found: Metric,
  pipeline: PipelineAggregation,
  { hold }: RunOptions,
): void => {
  hold?.(found)
  results.set(pipeline.name, withMeta(found, pipeline))
}

const withMeta = (found: Metric, { meta }: PipelineAggregation): Metric =>
  meta === undefined ? found : { ...found, meta }

const hasPipelines = ({ aggs, pipelines }: Pick<AggregationShape, 'aggs' | 'pipelines'>): boolean =>
  pipelines.length > 0 || aggs.some(hasPipelines)
