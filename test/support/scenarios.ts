import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import type { TestedDocument } from '../../src/query/predicate.ts'
import { search } from './search.ts'

/** Scenarios of the search interface: requests over one set of documents, with the answers that are due. */
export interface ScenarioFile {
  file: string
  about: string
  cases: Scenario[]
}

export interface Scenario {
  name: string
  request: {
    entities: string
    /** JSON, or the text of a body that is none. Absent where no body is sent. */
    body?: unknown
  }
  expect: Expectation
  /** Why OpenSearch answers otherwise. Where this stands, it must: what it no longer does otherwise is reported. */
  opensearchDiffers?: string
  /** Why OpenSearch is not asked. */
  opensearchSkipped?: string
}

export type Expectation =
  | {
      total: number
      /** Names of the hits (see `nameOf`). In this order where the request sorts, else in any order. */
      hits: string[]
      /** `_source` of the hits, in the order of `hits`; absent members mean that the hit has no `_source`. */
      sources?: unknown[]
    }
  | {
      status: number
      error: {
        type: string
        reason: string
      }
    }

export type Documents = Record<Kind, TestedDocument[]>

const folder = new URL('../scenario/', import.meta.url)

export const loadScenarios = (): ScenarioFile[] =>
  globSync('es/*.json', { cwd: folder })
    .sort()
    .map(name => {
      const content = parseLossless(readFileSync(new URL(name, folder), 'utf8')) as Omit<ScenarioFile, 'file'>
      return { file: name.replace(/^es\/|\.json$/g, ''), ...content }
    })

/** Derived from `blocks.ndjson`; both are written by `scripts/scenario-documents.ts`. */
export const loadDocuments = (): Documents => ({
  // Their blocks came without traces, and their contracts tell nothing.
  trace: [],
  call: [],
  contract: [],
  token: [],
  ...(parseLossless(readFileSync(new URL('documents.json', folder), 'utf8')) as Pick<
    Documents,
    'block' | 'tx' | 'log' | 'event'
  >),
})

export const kindsOf = (entities: string): Kind[] =>
  entities.split(',').map(name => {
    const kind = KINDS.find(kind => kind === name)
    if (kind === undefined) throw new Error(`a scenario asks for the entity ${name}`)
    return kind
  })

/**
 * The short name of a document: `18908894` for a block, `18908894/1` for its second transaction, `18908894/l0` and
 * `18908894/e0` for a log and the event that it is.
 */
export const nameOf = (kind: Kind, { _source }: TestedDocument): string => {
  const number = (field: string) => String((_source[field] as { num: unknown }).num)
  if (kind === 'block') return number('number')
  const index = kind === 'tx' ? number('transactionIndex') : `${kind[0]}${number('logIndex')}`
  return `${number('blockNumber')}/${index}`
}

/** The body to send. Unsorted hits are compared as a set, so all of them are asked for unless the case says how many. */
export const bodyText = ({ request: { body } }: Scenario): string | undefined => {
  if (body === undefined || typeof body === 'string') return body
  if (typeof body !== 'object' || body === null || 'size' in body || 'sort' in body) {
    return stringifyLossless(body)
  }
  return stringifyLossless({ ...body, size: 100 })
}

export const isSorted = ({ request: { body } }: Scenario): boolean =>
  typeof body === 'object' && body !== null && 'sort' in body

export const answerInMemory = (scenario: Scenario, documents: Documents, now: number): Expectation => {
  try {
    const request = parseSearch(bodyText(scenario), kindsOf(scenario.request.entities), now)
    const { total, hits } = search(request, documents)
    const named = hits.map(({ kind, document, source }) => ({ name: nameOf(kind, document), source }))
    return shapeAnswer(scenario, total, named)
  } catch (error) {
    if (!(error instanceof ChainsieveError)) throw error
    return { status: 400, error: { type: error.code, reason: error.message } }
  }
}

/** An answer as it can be compared with what is expected: hits by name, in order only where the request sorts. */
export const shapeAnswer = (
  scenario: Scenario,
  total: number,
  hits: { name: string; source: unknown }[],
): Expectation & { total: number } => {
  const ordered = isSorted(scenario) ? hits : hits.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const { body } = scenario.request
  const wantsSources = typeof body === 'object' && body !== null && '_source' in body
  const sources = wantsSources && { sources: ordered.map(hit => hit.source) }
  return { total, hits: ordered.map(hit => hit.name), ...sources }
}

/** JSON whose integers keep every digit: those that are no safe integers become bigints. */
export const parseLossless = (text: string): unknown =>
  JSON.parse(text, ((_key: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source ?? '')
      ? BigInt(context.source!)
      : value) as (key: string, value: unknown) => unknown)

export const stringifyLossless = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(inner)) : inner,
  )

/** That an answer is what a scenario expects; of a refusal, that it says so among other things. */
export const checkAnswer = ({ expect }: Scenario, given: Expectation) => {
  const answer = parseLossless(stringifyLossless(given))
  if (!('error' in expect)) return assert.deepEqual(answer, expect)
  const { error, status } = answer as typeof expect
  assert.deepEqual({ status, type: error?.type }, { status: expect.status, type: expect.error.type })
  assert.ok(error.reason.includes(expect.error.reason), `${error.reason}\n  does not say\n${expect.error.reason}`)
}
