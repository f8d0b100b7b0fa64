import { overLimit } from '../../limits/index.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { numberedAs } from '../query/places.ts'
import { viewOf } from '../query/segment-matcher.ts'
import type { Segment } from '../reader.ts'
import type { Context } from './aggregator.ts'
import { type At, type Batch, filtered, ordinalAt } from './batch.ts'
import { createKeys, spaceOf } from './keys.ts'
import { batchOf } from './run.ts'
import { createSource } from './sources.ts'
import { gathered } from './values.ts'

/** One of a sample. */
interface Sampled {
  segment: Segment
  ordinal: number
  score: number
}

/** Leaves of each batch what is in the sample, which is taken when the first one is seen. */
export const createSample = ({ size, diversity }: SpecOf<'sampler'>, context: Context) => {
  const scoring = context.scoring()
  const isUniform = scoring === undefined || scoring.uniform !== undefined
  const samples = new Map<At['kind'], Map<number, Set<number>>>()
  const keyOf = diversity && keysFor(diversity, context)

  const take = (kind: At['kind']): Map<number, Set<number>> => {
    const { evaluation } = context.found.find(part => part.kind === kind)!
    /** The best of each value, or of all. */
    const groups = new Map<unknown, Sampled[]>()
    const most = diversity ? Math.min(diversity.most, size) : size
    let held = 0
    for (const segment of context.reader.segments()) {
      context.reader.check()
      if (isUniform && held >= size) break
      const at: At = { ...viewOf(segment, numberedAs(kind), context.reader), kind, elements: undefined }
      const batch = batchOf(evaluation.matches(segment))
      const scores = isUniform ? undefined : scoring.in(kind, segment)
      const key = keyOf?.(at, batch)
      for (let i = 0; i < batch.count; i++) {
        if ((i & SOME) === 0) context.reader.check()
        const ordinal = ordinalAt(batch, i)
        const value = key?.(i)
        const group = groups.get(value) ?? []
        if (group.length === 0) groups.set(value, group)
        const score = scores ? scores[ordinal]! : 0
        if (group.length === most && !(score > group.at(-1)!.score)) continue
        insert(group, { segment, ordinal, score })
        if (group.length > most) group.pop()
        else if (++held * BYTES > context.limits.aggregationMemory) throw overLimit('aggregationMemory', context.limits)
        if (isUniform && held >= size) break
      }
    }
    const all = [...groups.values()].flat().sort(better).slice(0, size)
    const bySegment = new Map<number, Set<number>>()
    for (const { segment, ordinal } of all) {
      const set = bySegment.get(segment.id) ?? new Set()
      bySegment.set(segment.id, set.add(ordinal))
    }
    return bySegment
  }

  return (at: At, batch: Batch): { at: At; batch: Batch } => {
    let sample = samples.get(at.kind)
    if (!sample) {
      sample = take(at.kind)
      samples.set(at.kind, sample)
    }
    const here = sample.get(at.segment.id)
    return { at, batch: filtered(batch, ordinal => here?.has(ordinal) === true) }
  }
}

/** Between two looks at whether to go on. */
const SOME = 0xfff
/** What one of a sample takes. */
const BYTES = 100

/** Of equal ones the older. */
const better = (a: Sampled, b: Sampled): number =>
  b.score - a.score || a.segment.first - b.segment.first || a.ordinal - b.ordinal

const insert = (group: Sampled[], one: Sampled) => {
  let at = group.length
  while (at > 0 && group[at - 1]!.score < one.score) at--
  group.splice(at, 0, one)
}

/** As in Elasticsearch, numbers without a value count as 0, and doubles without their fractions. */
const keysFor = ({ values }: NonNullable<SpecOf<'sampler'>['diversity']>, context: Context) => {
  const keys = createKeys(spaceOf(values), context.reader)
  const source = createSource(values, keys, context)
  const isText = values.type === 'keyword'
  return (at: At, batch: Batch): ((i: number) => unknown) => {
    const all = gathered(source.read(at, batch), batch)
    return i => {
      const key = all[i]!
      if (isText) return Number.isNaN(key) ? 'none' : key
      const value = Number.isNaN(key) ? 0 : keys.value(key)
      return values.type === 'double' ? Math.trunc(Number(value)) + 0 : BigInt(value)
    }
  }
}
