import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { DIMENSIONS, similarityOf } from '../../src/decode/code-similarity.ts'
import { createSimilar, createSimilarWriter, SIMILAR_SCHEMA } from '../../src/engine/similarity-index.ts'
import { byDefault, readFlags } from '../lib/flags.ts'
import { createRandom, type Random } from '../lib/random.ts'
import { timesOf } from '../lib/table.ts'

/**
 * How long it takes to find the codes nearest to one among many, and how many of the nearest are found: `node scripts/bench/similar.ts`.
 * The codes are of families, as on a chain: a few with thousands of forks, most with a handful, and all with something in common.
 */
const values = readFlags('node scripts/bench/similar.ts [--codes N] [--lookups N]', {
  ...{ codes: byDefault('100000'), lookups: byDefault('500') },
})

const codes = Number(values.codes)
const lookups = Number(values.lookups)
const NEAREST = 10

const random = createRandom()
random.seek(1, 2, 3, 4)
const direction = (): Float64Array =>
  Float64Array.from({ length: DIMENSIONS }, () => random.normal() / Math.sqrt(DIMENSIONS))
const plus = (a: Float64Array, b: Float64Array, share: number) => a.map((number, i) => number + share * b[i]!)
const quantised = (vector: Float64Array): Int8Array => {
  const most = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
  return Int8Array.from(vector, number => Math.round((127 * number) / most))
}

const families = (random: Random): Int8Array[] => {
  const common = direction()
  const vectors: Int8Array[] = []
  while (vectors.length < codes) {
    const family = plus(direction(), common, 0.35)
    const members = 1 + Math.floor(1 / (random.unit() ** 1.1 + 1e-4))
    for (let i = 0; i < members && vectors.length < codes; i++)
      vectors.push(quantised(plus(family, direction(), 0.7 * random.unit() ** 2)))
  }
  return vectors
}

const folder = mkdtempSync(join(tmpdir(), 'chainsieve-similar-'))
try {
  const path = join(folder, 'similar.sqlite')
  const vectors = families(random)
  const writing = new Database(path)
  writing.pragma('journal_mode = WAL')
  for (const statement of ['CREATE TABLE meta (key TEXT PRIMARY KEY, value)', ...SIMILAR_SCHEMA])
    writing.exec(statement)
  const { put } = createSimilarWriter(writing)
  const started = performance.now()
  writing.transaction(() => vectors.forEach((vector, i) => void put(i + 1, vector)))()
  const filled = performance.now() - started
  writing.close()

  const reading = new Database(path, { readonly: true })
  reading.pragma('mmap_size = 17179869184')
  reading.pragma('cache_size = -65536')
  reading.pragma('temp_store = MEMORY')
  const similar = createSimilar(reading)
  const nearest = (vector: Int8Array) => [...similar.nearest(vector, NEAREST, () => {})].slice(0, NEAREST)
  const asked = Array.from({ length: lookups }, () =>
    quantised(plus(Float64Array.from(vectors[random.below(codes)]!), direction(), 127 * 0.5 * random.unit())),
  )
  for (const vector of asked.slice(0, 20)) nearest(vector)
  const times: number[] = []
  const busy = process.cpuUsage()
  const found = asked.map(vector => {
    const started = performance.now()
    const result = nearest(vector)
    times.push(performance.now() - started)
    return result
  })
  const { user, system } = process.cpuUsage(busy)
  reading.close()

  let known = 0
  let same = 0
  let near = 0
  const sample = Math.min(100, lookups)
  for (let i = 0; i < sample; i++) {
    const exact = vectors.map((vector, at) => ({ id: at + 1, similarity: similarityOf(asked[i]!, vector) }))
    exact.sort((a, b) => b.similarity - a.similarity)
    const ids = new Set(found[i]!.map(({ id }) => id))
    exact.slice(0, NEAREST).forEach(({ id, similarity }, rank) => {
      known++
      if (ids.has(id)) same++
      if ((found[i]![rank]?.similarity ?? 0) > similarity - 0.02) near++
    })
  }
  const { p50, p99, max } = timesOf(times)
  const percent = (part: number) => `${((100 * part) / known).toFixed(1)} %`
  console.log(
    `${codes} codes: ${((filled / codes) * 1000).toFixed(1)} µs to put one, ${Math.round(statSync(path).size / codes)} bytes each`,
  )
  console.log(
    `${lookups} lookups of the ${NEAREST} nearest: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms; ` +
      // What others do on the machine does not show in this.
      `processor ${((user + system) / 1000 / lookups).toFixed(1)} ms each`,
  )
  console.log(
    `of the ${NEAREST} nearest by an exact search ${percent(same)} are found, ${percent(near)} or one as near within 0.02`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
