import { statSync } from 'node:fs'
import type { SearchControl } from '../engine/query/search.ts'
import type { Searcher } from '../engine/query/searcher.ts'
import { createKeptMemory, type KeptMemory } from '../engine/reader.ts'
import { createLocalDocumentsCheck } from '../engine/shipping/document-location.ts'
import { lazy } from '../lib/caches.ts'
import { ChainsieveError } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { answerGet, type Reply } from './answer.ts'
import { type AnswerCache, createAnswerCache, keyOfSearch } from './answer-cache.ts'
import { answerForm, searchText } from './answer-forms.ts'
import { createCoverageHeader } from './coverage.ts'
import { createInlineAdmission, createLoopBudget, queryShape } from './inline-admission.ts'
import { type OpenStore, openStore } from './open-store.ts'
import type { ToReader } from './reader-messages.ts'
import type { SearchCaller, StoreAnswer } from './store.ts'

/**
 * Answers fast queries on the main thread: most take less time than a round trip to another thread.
 * Queries beyond a small budget, or with an unexpected error, restart on a thread.
 */
export interface Inline {
  /** Undefined where a thread has to answer. */
  search(search: InlineSearch, asking: SearchCaller): InlineAnswer
  get(get: Extract<ToReader, { type: 'get' }>, asking: SearchCaller): InlineAnswer
  /** The coverage of partial blocks, for the header of answers; undefined without such blocks. */
  coverage(store: string): string | undefined
  close(): void
}

/** A promise where others go first. */
export type InlineAnswer = StoreAnswer | undefined | Promise<StoreAnswer | undefined>

export type InlineSearch = Extract<ToReader, { type: 'search' }>

export interface InlineOptions {
  limits: Limits
  /** Time of the processor for one query, the first ones too; with 0 none is answered here. */
  budgetMs?: number
  /** Whether other threads could answer at the same time as this one. */
  mayShare?(): boolean
  now?(): number
}

const BUDGET_MS = 2
/** First queries run code that V8 has not compiled; threads take a tenth of a second to start. */
const COLD = { queries: 10, budgetMs: 40 }
/** Limit by the clock, in budgets, for when other processes have the processor. */
const MAX_BUDGETS = 4
/** Delay before a store that failed to open is tried again. */
const REOPEN_MS = 1_000
/** Larger bodies take too long just to parse. */
const MAX_BYTES = 16_384
/** Fraction (1/n) of cache memory for whole answers. */
const ANSWERS_SHARE = 16

interface InlineStore extends OpenStore {
  coverage(): string | undefined
  answers: AnswerCache
  /** Throws where documents have moved elsewhere. */
  checkWhole(): void
}

export const createInline = ({ limits, budgetMs, mayShare = () => false, now }: InlineOptions): Inline => {
  const credit = createInlineAdmission(now)
  const forAnswers = Math.floor(limits.keptMemory / ANSWERS_SHARE)
  const kept = createKeptMemory(limits.keptMemory - forAnswers)
  const turns = createLoopBudget()
  const time = now ?? (() => performance.now())
  const clock = now ?? processorTime
  let cold = COLD.queries
  /** By file; null if it could not be opened. */
  const open = new Map<string, InlineStore | null>()
  let closed = false

  const openOf = (store: string): InlineStore | null => {
    const known = open.get(store)
    if (known !== undefined || closed) return known ?? null
    const opened = tryToOpen(store, limits, { kept, forAnswers })
    open.set(store, opened)
    if (!opened) setTimeout(() => open.delete(store), REOPEN_MS).unref()
    return opened
  }

  /**
   * One transaction for all that a request reads, as each takes some system calls. Undefined where
   * it cannot begin, or documents are elsewhere: the error comes from a thread.
   */
  const inTransaction = <T>(store: string, work: (opened: InlineStore, started: number) => T): T | undefined => {
    const opened = openOf(store)
    if (!opened) return undefined
    const { reader } = opened
    const started = time()
    try {
      reader.begin()
    } catch {
      return undefined
    }
    try {
      return holdsAll(opened) ? work(opened, started) : undefined
    } finally {
      reader.end()
      turns.spend(time() - started)
    }
  }

  const attempt = (
    { searcher }: InlineStore,
    { account, shape }: { account: number; shape: () => string },
    work: (searcher: Searcher, options: SearchControl) => Reply,
  ): StoreAnswer | undefined => {
    const budget = budgetMs ?? (cold > 0 ? COLD.budgetMs : BUDGET_MS)
    cold--
    const started = time()
    const used = clock()
    const options = {
      deadline: Number.POSITIVE_INFINITY,
      yields() {
        const elapsed = time() - started
        // Reads the processor time, a system call, only if the clock already exceeds the budget.
        return elapsed > budget && (clock() - used > budget || elapsed > MAX_BUDGETS * budget)
      },
    }
    const taken = () => {
      const elapsed = time() - started
      return elapsed < 1 ? elapsed : clock() - used
    }
    const handOver = () => {
      credit.handedOver(account, shape, time() - started)
      return undefined
    }
    try {
      const { body, ...answer } = work(searcher, options)
      if (!(body instanceof Uint8Array)) return handOver()
      credit.answered(shape, taken())
      return { ...answer, body }
    } catch (error) {
      if (!(error instanceof ChainsieveError && error.next === 'refuse')) return handOver()
      credit.answered(shape, taken())
      throw error
    }
  }

  const inTurn = (
    { account, signal }: SearchCaller,
    shape: () => string,
    run: () => StoreAnswer | undefined,
  ): InlineAnswer => {
    if (budgetMs === 0 || !credit.mayTry(account, shape)) return undefined
    if (turns.isFree()) return run()
    if (mayShare() || credit.isLong(shape)) return undefined
    const { promise, resolve, reject } = Promise.withResolvers<StoreAnswer | undefined>()
    const waits = turns.wait(account, () => {
      try {
        signal.throwIfAborted()
        // Queries before it may have used up its budget.
        resolve(credit.mayTry(account, shape) ? run() : undefined)
      } catch (error) {
        reject(error)
      }
    })
    return waits ? promise : undefined
  }

  return {
    coverage: store => openOf(store)?.coverage(),
    search(search, asking) {
      const { store, entities, body, parameters, form, format, scroll, now: at } = search
      if (body !== undefined && body.length > MAX_BYTES) return undefined
      const text = searchText(body) ?? ''
      const how = () => JSON.stringify([parameters, form, format, scroll !== undefined])
      const shape = lazy(() => queryShape(`${store} ${entities} ${how()}`, text))
      const key = keyOfSearch(search, text)
      const run = (opened: InlineStore) =>
        keeping(
          opened,
          key,
          attempt(opened, { account: asking.account, shape }, (searcher, options) =>
            // Long answers are a thread's.
            answerForm(searcher, search, text, { ...options, limits, now: at, mayStream: false }),
          ),
        )
      if (budgetMs === 0) return undefined
      if (key === undefined || !turns.isFree()) return inTurn(asking, shape, () => inTransaction(store, run))
      return inTransaction(store, (opened, started) => {
        const known = cachedAnswer(opened, key, time() - started)
        return known ?? (credit.mayTry(asking.account, shape) ? run(opened) : undefined)
      })
    },
    get({ store, index, entity, document, ...how }, asking) {
      const shape = lazy(() => queryShape(`${store} ${entity}`, ''))
      return inTurn(asking, shape, () =>
        inTransaction(store, opened =>
          attempt(opened, { account: asking.account, shape }, searcher =>
            answerGet(searcher, index, entity as Kind, document, how),
          ),
        ),
      )
    },
    close() {
      closed = true
      turns.close()
      for (const opened of open.values()) opened?.reader.close()
      open.clear()
    },
  }
}

/** The cached answer for the present state of the store; `ms`: since the request began. */
const cachedAnswer = ({ reader, answers }: InlineStore, key: string, ms: number): StoreAnswer | undefined => {
  const body = answers.get(key, reader.version(), Math.round(ms))
  return body && { status: 200, body }
}

/** Returns the answer, and caches it if it is requested again. */
const keeping = ({ reader, answers }: InlineStore, key: string | undefined, found: StoreAnswer | undefined) => {
  if (key !== undefined && found?.status === 200 && !found.readsNow && found.body instanceof Uint8Array)
    answers.offer(key, reader.version(), found.body)
  return found
}

const holdsAll = ({ checkWhole }: InlineStore): boolean => {
  try {
    checkWhole()
    return true
  } catch {
    return false
  }
}

const tryToOpen = (
  store: string,
  limits: Limits,
  { kept, forAnswers }: { kept: KeptMemory; forAnswers: number },
): InlineStore | null => {
  try {
    // Only what can be opened without waiting; a thread waits for the rest.
    if (!statSync(store).isFile()) return null
    const opened = openStore(store, limits, kept, 0)
    const checkWhole = createLocalDocumentsCheck(opened.reader.db)
    checkWhole()
    // Loads what all queries need.
    opened.reader.begin()
    opened.reader.end()
    const coverage = createCoverageHeader(opened.reader)
    return { ...opened, checkWhole, coverage, answers: createAnswerCache(forAnswers) }
  } catch {
    return null
  }
}

/** Processor time of this thread in ms, unaffected by load; clock time on an older Node. */
const processorTime = (): number => {
  if (!process.threadCpuUsage) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
