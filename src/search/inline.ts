import { statSync } from 'node:fs'
import type { Searcher } from '../engine/query/execute.ts'
import type { SearchOptions } from '../engine/query/options.ts'
import { ChainsieveError } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { answerGet, answerSearch, type Reply } from './answer.ts'
import { createCredit, shapeOf } from './credit.ts'
import type { UsedCursor } from './cursors/answer.ts'
import { type OpenStore, openStore } from './open-store.ts'
import type { ToReader } from './reader-thread.ts'
import type { Answer } from './service.ts'

/**
 * Answers in the main thread what takes next to no time: the way to another thread and back takes longer than most queries. What does not
 * come to its end within a small budget is left to a thread, which begins it anew; so is whatever fails but for the caller's fault.
 */
export interface Inline {
  /** Undefined where a thread has to answer. */
  search(search: InlineSearch, account: number): InlineAnswer | undefined
  get(get: Extract<ToReader, { type: 'get' }>, account: number): Answer | undefined
  close(): void
}

export interface InlineAnswer extends Answer {
  cursor?: UsedCursor | undefined
}

export type InlineSearch = Extract<ToReader, { type: 'search' }>

export interface InlineOptions {
  limits: Limits
  /** Time for one query; with 0 none is answered here. */
  budgetMs?: number
  now?(): number
}

const BUDGET_MS = 2
/** A store that could not be opened is tried again with the first answer after so long. */
const AGAIN_MS = 1_000
/** Larger bodies take long to be read alone. */
const MAX_BYTES = 16_384

export const createInline = ({
  limits,
  budgetMs = BUDGET_MS,
  now = () => performance.now(),
}: InlineOptions): Inline => {
  const credit = createCredit(now)
  /** By file; null where it could not be opened. */
  const open = new Map<string, OpenStore | null>()
  let closed = false

  const openOf = (store: string): OpenStore | null => {
    const known = open.get(store)
    if (known !== undefined || closed) return known ?? null
    const opened = tryToOpen(store, limits)
    open.set(store, opened)
    if (!opened) setTimeout(() => open.delete(store), AGAIN_MS).unref()
    return opened
  }

  const attempt = (
    { store, account, shape }: { store: string; account: number; shape: () => string },
    work: (searcher: Searcher, options: SearchOptions) => Reply,
  ): InlineAnswer | undefined => {
    if (budgetMs === 0 || !credit.mayTry(account, shape)) return undefined
    const opened = openOf(store)
    if (!opened) return undefined
    const started = now()
    const options = { deadline: Number.POSITIVE_INFINITY, yields: () => now() - started > budgetMs }
    const handOver = () => {
      credit.handedOver(account, shape, now() - started)
      return undefined
    }
    try {
      const { body, ...answer } = work(opened.searcher, options)
      if (!(body instanceof Uint8Array)) return handOver()
      credit.answered(shape, now() - started)
      return { ...answer, body }
    } catch (error) {
      if (!(error instanceof ChainsieveError && error.next === 'refuse')) return handOver()
      credit.answered(shape, now() - started)
      throw error
    }
  }

  return {
    search({ store, index, entities, body, now: at, scroll, isNamed, format }, account) {
      if (body !== undefined && body.length > MAX_BYTES) return undefined
      const text = body === undefined ? '' : Buffer.from(body.buffer, body.byteOffset, body.length).toString()
      const shape = () => shapeOf(`${store} ${entities} ${format} ${scroll !== undefined}`, text)
      return attempt({ store, account, shape }, (searcher, options) =>
        // Long answers are a thread's.
        answerSearch(searcher, index, entities, text, {
          ...{ ...options, limits, now: at, mayStream: false },
          ...{ scroll, isNamed, format },
        }),
      )
    },
    get({ store, index, entity, document }, account) {
      const shape = () => shapeOf(`${store} ${entity}`, '')
      return attempt({ store, account, shape }, searcher => answerGet(searcher, index, entity as Kind, document))
    },
    close() {
      closed = true
      for (const opened of open.values()) opened?.reader.close()
      open.clear()
    },
  }
}

const tryToOpen = (store: string, limits: Limits): OpenStore | null => {
  try {
    // What can be opened without waiting for anything; a thread waits for the rest.
    if (!statSync(store).isFile()) return null
    const opened = openStore(store, limits, 0)
    // What all queries need is read before the first one.
    opened.reader.begin()
    opened.reader.end()
    return opened
  } catch {
    return null
  }
}
