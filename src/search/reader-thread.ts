import { parentPort } from 'node:worker_threads'
import { parseTokens } from '../decode/registry.ts'
import { newestTimes } from '../engine/blocks.ts'
import { createKeptMemory } from '../engine/kept.ts'
import { check, Yielded } from '../engine/query/options.ts'
import type { Cursor } from '../engine/query/pages.ts'
import { createSuggester, type Suggester } from '../engine/query/suggest.ts'
import { type Reader, wholeRanges } from '../engine/reader.ts'
import { createWholeCheck } from '../engine/shipping/document-location.ts'
import { toFailure } from '../lib/errors.ts'
import { readTextAsset } from '../lib/runtime.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { readDamage } from '../sqlite/damage.ts'
import {
  type AnswerOptions,
  answerDocuments,
  answerGet,
  answerRequest,
  answerSimilar,
  answerSuggest,
} from './answer.ts'
import { answerForm } from './answer-forms.ts'
import { scopedIn } from './coverage.ts'
import { eachOf } from './index-names.ts'
import { searchSeveral } from './multi-network.ts'
import { holdingsOf, type OpenStore, openStore } from './open-store.ts'
import type { FromReader, Search, ToReader } from './reader-messages.ts'
import { createReaderParts, type Running } from './reader-parts.ts'
import type { Elsewhere, HeldBlocks, OpenElsewhere } from './store.ts'
import { renderBody } from './template.ts'

export interface ReaderData {
  /** Two numbers: of the task to give up, and of the task that is to make room for others. */
  flags: SharedArrayBuffer
  limits: Limits
}

/**
 * One of the threads that answer queries. It answers one at a time; a long answer is given part by part, as it is asked for. `openElsewhere`
 * searches networks together of which some lie elsewhere than in files.
 */
export const runReader = ({ flags: shared, limits }: ReaderData, openElsewhere: OpenElsewhere) => {
  const flags = new Int32Array(shared)
  const open = new Map<string, Opened>()
  const kept = createKeptMemory(limits.keptMemory)
  /** Searches that wait for other machines. */
  const underWay = new Map<number, ReturnType<OpenElsewhere>>()
  const tell = (message: FromReader, transfer: ArrayBuffer[] = []) => parentPort!.postMessage(message, transfer)
  const parts = createReaderParts(tell)

  const opened = (store: string): Opened => {
    let one = open.get(store)
    if (!one) {
      one = { ...openStore(store, limits, kept), suggester: undefined, checkWhole: undefined }
      open.set(store, one)
    }
    return one
  }

  /** For what looks for documents. */
  const whole = (store: string): Opened => {
    const one = opened(store)
    one.checkWhole ??= createWholeCheck(one.reader.db)
    one.checkWhole()
    return one
  }

  const answerWaiting = async (search: Search, elsewhere: Elsewhere) => {
    const { id, index, now, mayStream, deadlineMs } = search
    const options = createOptions(deadlineMs)
    options.begin(id)
    const asked: AnswerOptions = Object.assign(options, { limits, now, mayStream })
    const stores = [search.store, ...(search.more ?? [])]
    const waiting = openElsewhere({
      ...{ elsewhere, index, deadlineMs, limits },
      stores: stores.map((one, i) => () => (elsewhere.networks[i] ? opened(one) : whole(one))),
    })
    underWay.set(id, waiting)
    try {
      const { searcher } = waiting
      const answered = await (search.type === 'request'
        ? answerRequest(searcher, index, search.request, asked)
        : answerForm(searcher, search, textOf(search.body), asked))
      if (answered.body instanceof Uint8Array) waiting.close()
      else await answered.body.ready?.()
      // What was begun with others is not begun anew.
      options.yields = () => false
      parts.reply(id, answered, options, waiting.close)
    } catch (error) {
      waiting.close()
      throw error
    } finally {
      underWay.delete(id)
    }
  }

  const begin = (search: Search, after?: Cursor) => {
    const { id, store, index, now, mayStream } = search
    const options = createOptions(search.deadlineMs)
    options.begin(id)
    const asked: AnswerOptions = Object.assign(options, { limits, now, mayStream, after })
    const indexes = eachOf(index)
    const stores = [store, ...(search.more ?? [])]
    options.check = () => stores.forEach(whole)
    const members = stores.map((one, i) => ({
      searcher: whole(one).searcher,
      index: indexes[i]!,
    }))
    const searcher = searchSeveral(members)
    const answered =
      search.type === 'request'
        ? answerRequest(searcher, index, search.request, asked)
        : answerForm(searcher, search, textOf(search.body), asked)
    return { ...answered, options }
  }

  const resume = ({ search, ...message }: Extract<ToReader, { type: 'resume' }>) => {
    const { options, ...answered } = begin({ ...search, id: message.id, mayStream: true }, message.after)
    parts.resume(message, answered, options)
  }

  /** A long answer may take as long as its client does: the deadline is that of each part. */
  const createOptions = (deadlineMs: number): Running => {
    let current = 0
    return {
      deadline: 0,
      begin(id) {
        current = id
        this.deadline = performance.now() + deadlineMs
      },
      cancelled: () => Atomics.load(flags, 0) === current,
      yields: () => Atomics.load(flags, 1) === current,
      reached: at => tell({ type: 'reached', id: current, at }),
    }
  }

  const tellDocument = ({ id, store, index, entity, document, ...how }: Extract<ToReader, { type: 'get' }>) => {
    parts.replyWhole(id, answerGet(whole(store).searcher, index, entity as Kind, document, how))
  }

  const tellDocuments = ({ id, store, index, wanted, dialect, deadlineMs }: Documents) => {
    const options = createOptions(deadlineMs)
    options.begin(id)
    const asked = Object.assign(options, { limits, dialect })
    parts.replyWhole(id, answerDocuments(whole(store).searcher, index, wanted, asked))
  }

  const tellRendered = ({ id, deadlineMs, body, isJson }: Extract<ToReader, { type: 'render' }>) => {
    const options = createOptions(deadlineMs)
    options.begin(id)
    tell({ type: 'rendered', id, ...renderBody(body, { limits, isJson, check: () => check(options) }) })
  }

  const tellSimilar = ({ id, store, index, deadlineMs, request }: Extract<ToReader, { type: 'similar' }>) => {
    const options = createOptions(deadlineMs)
    options.begin(id)
    parts.replyWhole(id, answerSimilar(whole(store).searcher, index, request, options))
  }

  const tellSuggestions = ({ id, store, request }: Extract<ToReader, { type: 'suggest' }>) => {
    const one = opened(store)
    one.suggester ??= createSuggester(one.reader, listedTokens)
    parts.replyWhole(id, answerSuggest(one.reader, one.suggester, request))
  }

  const answer = (message: ToReader): Promise<void> | void => {
    switch (message.type) {
      case 'search':
      case 'request': {
        if (message.elsewhere) return answerWaiting(message, message.elsewhere)
        const { options, ...answered } = begin(message)
        return parts.reply(message.id, answered, options)
      }
      case 'get':
        return tellDocument(message)
      case 'documents':
        return tellDocuments(message)
      case 'render':
        return tellRendered(message)
      case 'holdings':
        return tell({ type: 'holdings', id: message.id, holdings: holdingsOf(opened(message.store), message.store) })
      case 'suggest':
        return tellSuggestions(message)
      case 'similar':
        return tellSimilar(message)
      case 'held':
        return tell({ type: 'held', id: message.id, held: heldIn(opened(message.store).reader) })
      case 'seen':
        return tell({ type: 'seen', id: message.id, seen: opened(message.store).searcher.seen() })
      case 'more':
        return parts.more(message)
      case 'resume':
        return resume(message)
      case 'drop':
        underWay.get(message.stream)?.close()
        return parts.drop(message.stream)
    }
  }

  const fail = (message: ToReader, error: unknown) => {
    if (message.type === 'drop') throw error
    if (error instanceof Yielded) return tell({ type: 'yielded', id: message.id })
    const failure = toFailure('store' in message ? readDamage(error, message.store) : error)
    tell({ type: 'failed', id: message.id, failure })
  }

  parentPort!.on('message', (message: ToReader) => {
    try {
      const done = answer(message)
      if (done instanceof Promise) done.catch(error => fail(message, error))
    } catch (error) {
      fail(message, error)
    }
  })
  tell({ type: 'ready' })
}

type Documents = Extract<ToReader, { type: 'documents' }>

interface Opened extends OpenStore {
  /** Made when it is first asked. */
  suggester: Suggester | undefined
  /** Refuses where it does not hold all documents. A store is emptied where documents lie elsewhere. */
  checkWhole: (() => void) | undefined
}

const listedTokens = () => ['tokens.txt', 'demo-tokens.txt'].flatMap(name => parseTokens(readTextAsset(name)))

const textOf = (body: Uint8Array | undefined) =>
  body && Buffer.from(body.buffer, body.byteOffset, body.length).toString()

const heldIn = (reader: Reader): HeldBlocks => {
  reader.begin()
  try {
    const ranges = wholeRanges(reader.segments())
    return { ranges, newest: newestTimes(reader, 1)[0] ?? null, ...scopedIn(reader) }
  } finally {
    reader.end()
  }
}
