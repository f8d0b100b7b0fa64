import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClusterStore } from '../../../src/cluster/store.ts'
import { ChainsieveError } from '../../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import type { SearchAnswer } from '../../../src/search/service.ts'
import type { NetworkStore } from '../../../src/search/store.ts'
import { createAnswerStreams } from '../../../src/search/streams.ts'
import { type Ask, NOW } from '../../answers/ask.ts'
import { type Line, readFixture } from '../../answers/fixture.ts'
import { CONTENTS } from '../../answers/stores.ts'
import { fillCluster, withoutCluster } from '../../support/cluster-fill.ts'
import { assertPromised } from '../promised.ts'
import { never, REFUSED } from './support.ts'

/** Of so many answers one is held: all of them take minutes. `ONE_OF=1 CONTENTS=all npm test -- cluster/search/answers` holds all. */
const ONE_OF = Number(process.env.ONE_OF ?? 60)
const WANTED = process.env.CONTENTS ?? 'odd,demo'
/** Bodies are small, and names are not asked for. */
const inThread = { search: notAsked, suggest: notAsked }

/** Requests at once. */
const WORKERS = 4
const asking = { account: 1, signal: never }

/** Those that depend on a limit, on another thread, or on what the store alone is asked. */
const isAsked = ({ ask }: Line): boolean =>
  ask.op === 'get' ||
  (ask.op === 'search' &&
    !ask.limits &&
    ask.mayStream !== false &&
    ask.resumeAfter === undefined &&
    !/min_score|rescore/.test(ask.body ?? ''))

const answerTo = async (store: NetworkStore, ask: Ask): Promise<string> => {
  try {
    if (ask.op === 'get') return await textOf(await store.get({ ...asking, entity: ask.entity, id: ask.id }))
    if (ask.op !== 'search') throw new Error(`${ask.op} is not asked`)
    const { entities, body } = ask
    const bytes = body === undefined ? undefined : Buffer.from(body)
    return await textOf(await store.search({ entities, body: bytes, now: NOW }, asking))
  } catch (error) {
    if (!(error instanceof ChainsieveError)) throw error
    return `${error.next} ${error.code}: ${error.message}`
  }
}

function notAsked(): never {
  throw new Error('a thread is not asked')
}

const textOf = async ({ status, body }: SearchAnswer): Promise<string> => {
  const text = await new Response(body as Uint8Array<ArrayBuffer>).text()
  return `${status} ${text.replace(/^\{"took":\d+/, '{"took":0')}`
}

describe('a cluster gives the recorded answers', { skip: withoutCluster }, () => {
  for (const [content, builds] of Object.entries(CONTENTS)) {
    if (WANTED !== 'all' && !WANTED.split(',').includes(content)) continue
    it(`of what is ${content}`, async () => {
      const filled = await fillCluster(await Object.values(builds)[0]!(), { prefix: 'answers' })
      const { cluster, naming, network, store, visible } = filled
      const clustered = createClusterStore({
        ...{ network, file: store.path, limits: DEFAULT_LIMITS, deadlineMs: 30_000, inThread },
        ...{ place: { cluster, naming, shelf: () => () => visible }, streams: createAnswerStreams(DEFAULT_LIMITS) },
      })
      try {
        const lines = readFixture(content)
          .filter(isAsked)
          .filter((_, i) => i % ONE_OF === 0)
        const refused: string[] = []
        const others: string[] = []
        const queue = [...lines]
        const work = async () => {
          for (let line = queue.shift(); line; line = queue.shift()) {
            const { status, text } = line.answer
            const answer = await answerTo(clustered, line.ask).catch(error => `THROWN ${error.stack}`)
            if (answer.includes(REFUSED)) refused.push(answer)
            else if (!isPromised(answer, `${status} ${text}`))
              others.push(`${line.name} ${JSON.stringify(line.ask)}\n${answer}\n${status} ${text}`)
          }
        }
        await Promise.all(Array.from({ length: WORKERS }, work))
        if (process.env.REFUSED) tellRefused(content, lines.length, refused)
        assert.ok(refused.length < lines.length / 5)
        assert.deepEqual(others, [])
      } finally {
        clustered.close()
        await filled.close()
      }
    })
  }
})

const isPromised = (answer: string, expected: string): boolean => {
  try {
    assertPromised(answer, expected)
    return true
  } catch {
    return false
  }
}

/** What is refused how often, without the values in it. */
const tellRefused = (content: string, lines: number, refused: readonly string[]) => {
  const reasons = Map.groupBy(refused, text => text.slice(0, text.indexOf(REFUSED)).replace(/0x[0-9a-f]+|\d+/gi, '…'))
  console.log(`${content}: ${lines} asked, ${refused.length} refused`)
  for (const [reason, { length }] of [...reasons].sort(([, a], [, b]) => b.length - a.length))
    console.log(`  ${length} ${reason}`)
}
