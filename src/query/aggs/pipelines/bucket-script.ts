import { refuse } from '../../../lib/errors.ts'
import { type JsonNode, where } from '../../json-node.ts'
import type { Bucket } from '../result.ts'
import { type BucketsPath, type GapPolicy, valueIn } from './path.ts'
import { bodyOf, formatOf, gapPolicyOf, namedPaths, type PipelineKind, simpleValue } from './pipeline.ts'
import { compileScript, type Given, type Variables } from './script.ts'
import { readSource } from './source.ts'

export const bucketScript: PipelineKind = {
  doc: 'Arithmetic with the numbers of each bucket.',
  limit: 'Scripts are arithmetic, not Painless.',
  example: { buckets_path: { gas: 'gas', n: '_count' }, script: 'params.gas / params.n' },
  stands: 'in buckets',
  read(place) {
    const body = bodyOf(place, ['script', 'gap_policy', 'format'])
    const { paths, gaps, run } = scripted(place, body, 'number')
    const format = formatOf(body.format)
    return {
      paths: [...paths.values()],
      inside({ buckets }, put) {
        for (const bucket of buckets) {
          const variables = variablesOf(bucket, paths, gaps)
          const isGap = [...variables.values()].some(value => value === null || Number.isNaN(value))
          if (gaps !== 'insert_zeros' && isGap) continue
          const value = run(variables)
          if (value !== null) put(bucket, simpleValue(Number(value), format))
        }
      },
    }
  },
}

export const bucketSelector: PipelineKind = {
  doc: 'Keeps the buckets whose numbers meet a condition.',
  limit: 'Scripts are arithmetic, not Painless.',
  example: { buckets_path: { gas: 'gas' }, script: 'params.gas > 1000000' },
  stands: 'in buckets',
  read(place) {
    const { paths, gaps, run } = scripted(place, bodyOf(place, ['script', 'gap_policy']), 'boolean')
    return {
      paths: [...paths.values()],
      inside(parent) {
        parent.buckets = parent.buckets.filter(bucket => run(variablesOf(bucket, paths, gaps)) === true)
      },
    }
  },
}

interface Scripted {
  paths: ReadonlyMap<string, BucketsPath>
  gaps: GapPolicy
  run(variables: Variables): Given
}

const scripted = (
  place: JsonNode,
  body: { buckets_path?: JsonNode; script?: JsonNode; gap_policy?: JsonNode },
  wanted: 'number' | 'boolean',
): Scripted => {
  const paths = namedPaths(place, body)
  if (body.script === undefined) throw refuse('illegal_argument_exception', `${where(place)}: Required [script].`)
  const run = compileScript(readSource(body.script), new Set(paths.keys()), wanted)
  return { paths, gaps: gapPolicyOf(body.gap_policy), run }
}

const variablesOf = (bucket: Bucket, paths: ReadonlyMap<string, BucketsPath>, gaps: GapPolicy): Variables => {
  const variables = new Map<string, number | null>()
  for (const [name, path] of paths) variables.set(name, valueIn(bucket, path, gaps) ?? null)
  return variables
}
