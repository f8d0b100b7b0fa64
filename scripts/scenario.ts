/**
 * Runs the search scenarios of `test/scenario/es` against a real OpenSearch or Elasticsearch 7, and reports every answer that is
 * not the expected one.
 *
 *     node scripts/scenario.ts URL [--record] [--random N [--seed S]] [--prefix NAME]
 *
 * `--record` writes what the server answered into the scenarios as what is expected, save where they say that it differs: there,
 * what the in-memory search answers is written. `--random` compares N random queries with the in-memory search instead.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import fc from 'fast-check'
import { KINDS, type Kind } from '../src/mapping/index.ts'
import { parseSearch } from '../src/query/parse.ts'
import { arbitraryQuery } from '../test/support/queries.ts'
import {
  answerInMemory,
  bodyText,
  type Documents,
  type Expectation,
  kindsOf,
  loadDocuments,
  loadScenarios,
  nameOf,
  parseLossless,
  type Scenario,
  shapeAnswer,
  stringifyLossless,
} from '../test/support/scenarios.ts'
import { search } from '../test/support/search.ts'
import { openSearchIndex } from './scenario-mapping.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    record: { type: 'boolean' },
    random: { type: 'string' },
    seed: { type: 'string' },
    prefix: { type: 'string' },
  },
})
const url = positionals[0]
if (url === undefined) {
  console.error('usage: node scripts/scenario.ts URL [--record] [--random N [--seed S]] [--prefix NAME]')
  process.exit(2)
}

const documents = loadDocuments()
const now = Date.now()

interface Result {
  status: number
  body: { error?: { type: string; reason: string; root_cause?: unknown[] }; hits: Hits }
}
interface Hits {
  total: { value: number }
  hits: { _index: string; _id: string; _score: number; _source?: unknown }[]
}

const call = async (method: string, path: string, body?: string, type = 'application/json'): Promise<Result> => {
  const init = { method, headers: { 'content-type': type } }
  const response = await fetch(`${url}${path}`, body === undefined ? init : { ...init, body })
  return { status: response.status, body: parseLossless(await response.text()) as Result['body'] }
}

const indexOf = (kind: Kind) => `${options.prefix ?? 'scenario'}-${kind}`

const load = async (set: Documents) => {
  for (const kind of KINDS) {
    await call('DELETE', `/${indexOf(kind)}`)
    const made = await call('PUT', `/${indexOf(kind)}`, stringifyLossless(openSearchIndex(kind)))
    if (made.status !== 200) throw new Error(`${kind}: ${stringifyLossless(made.body)}`)
    const lines = set[kind].flatMap(({ _id, _source }) => [{ index: { _id } }, _source])
    const bulk = `${lines.map(line => stringifyLossless(line)).join('\n')}\n`
    const stored = await call('POST', `/${indexOf(kind)}/_bulk?refresh=true`, bulk, 'application/x-ndjson')
    if ((stored.body as unknown as { errors: boolean }).errors) throw new Error(stringifyLossless(stored.body))
  }
}

const names = new Map(
  KINDS.flatMap(kind =>
    documents[kind].map(document => [`${indexOf(kind)} ${document._id}`, nameOf(kind, document)] as const),
  ),
)

const ask = async (entities: string, body: string | undefined): Promise<Result> =>
  call('POST', `/${kindsOf(entities).map(indexOf).join(',')}/_search?track_total_hits=true`, body)

const answerOf = (scenario: Scenario, { status, body }: Result): Expectation => {
  if (status !== 200) {
    const { type, reason } = (body.error!.root_cause?.[0] ?? body.error!) as { type: string; reason: string }
    return { status, error: { type, reason } }
  }
  const hits = body.hits.hits.map(hit => ({ name: names.get(`${hit._index} ${hit._id}`)!, source: hit._source }))
  return shapeAnswer(scenario, body.hits.total.value, hits)
}

/** Both refuse, or both answer the same; what a refusal says differs between any two programs. */
const agrees = (a: Expectation, b: Expectation): boolean =>
  'error' in a || 'error' in b
    ? 'error' in a && 'error' in b && a.status === b.status
    : isDeepStrictEqual(plain(a), plain({ ...b, hits: [...b.hits] }))
/** Scores of both by hit, where they are not near enough; those that only filter score 0 there and 1 here. */
const scoresApart = (theirs: Map<string, number>, ours: Map<string, number>): string | undefined => {
  if ([...theirs.values()].every(score => score === 0)) return undefined
  for (const [name, score] of theirs) {
    const own = ours.get(name) ?? Number.NaN
    if (!(Math.abs(own - score) <= 1e-5 * Math.max(score, 1e-9))) return `${name} scores ${score} there and ${own} here`
  }
  return undefined
}
const plain = (value: unknown) => parseLossless(stringifyLossless(value))

const runScenarios = async (): Promise<number> => {
  let faults = 0
  let count = 0
  for (const file of loadScenarios()) {
    for (const scenario of file.cases) {
      count++
      if (scenario.opensearchSkipped !== undefined) {
        if (options.record) scenario.expect = answerInMemory(scenario, documents, now)
        continue
      }
      const theirs = answerOf(scenario, await ask(scenario.request.entities, bodyText(scenario)))
      const same = scenario.expect !== undefined && agrees(scenario.expect, theirs)
      if (options.record) {
        const ours = answerInMemory(scenario, documents, now)
        scenario.expect = 'error' in ours || scenario.opensearchDiffers !== undefined ? ours : theirs
        if (agrees(ours, theirs) === (scenario.opensearchDiffers === undefined)) continue
      } else if (same === (scenario.opensearchDiffers === undefined)) continue
      faults++
      const what = scenario.opensearchDiffers === undefined ? 'differs' : 'no longer differs'
      console.log(`${file.file}: ${scenario.name}: ${what}\n  body     ${stringifyLossless(scenario.request.body)}`)
      console.log(`  expected ${stringifyLossless(scenario.expect)}\n  received ${stringifyLossless(theirs)}`)
      if (options.record) console.log(`  ours     ${stringifyLossless(answerInMemory(scenario, documents, now))}`)
    }
    if (options.record) write(file.file, file.about, file.cases)
  }
  console.log(`${count} scenarios, ${faults} faults`)
  return faults
}

const write = (file: string, about: string, cases: Scenario[]) => {
  const path = fileURLToPath(new URL(`../test/scenario/es/${file}.json`, import.meta.url))
  writeFileSync(path, stringifyLossless({ about, cases }))
  execFileSync('npx', ['biome', 'format', '--write', path])
}

const scoresOf = (kind: Kind, body: string, { status, body: theirs }: Result): string | undefined => {
  if (status !== 200) return undefined
  try {
    const { hits } = search(parseSearch(body, [kind], now), documents)
    return scoresApart(
      new Map(theirs.hits.hits.map(({ _id, _score }) => [_id, _score])),
      new Map(hits.map(({ document, score }) => [document._id, score])),
    )
  } catch {
    return undefined
  }
}

const runRandom = async (count: number, seed: number): Promise<number> => {
  let faults = 0
  let found = 0
  for (const kind of KINDS) {
    const bodies = fc.sample(arbitraryQuery(kind, documents[kind], { asElasticsearch: true }), { numRuns: count, seed })
    for (const query of bodies) {
      const body = stringifyLossless({ query, size: 100 })
      const scenario = { name: '', request: { entities: kind, body: { query } }, expect: { total: 0, hits: [] } }
      const result = await ask(kind, body)
      const [theirs, ours] = [answerOf(scenario, result), answerInMemory(scenario, documents, now)]
      const apart = scoresOf(kind, body, result)
      if ('hits' in theirs && theirs.total > 0 && theirs.total < documents[kind].length) found++
      if (agrees(theirs, ours) && apart === undefined) continue
      if (apart !== undefined) console.log(apart)
      faults++
      console.log(
        `${kind}\n  body     ${body}\n  theirs ${stringifyLossless(theirs)}\n  ours   ${stringifyLossless(ours)}`,
      )
    }
  }
  console.log(
    `${count * KINDS.length} random queries (seed ${seed}), of which ${found} found some and not all documents, ${faults} faults`,
  )
  return faults
}

await load(documents)
const faults = options.random
  ? await runRandom(Number(options.random), Number(options.seed ?? Date.now() % 1_000_000))
  : await runScenarios()
process.exit(faults === 0 ? 0 : 1)
