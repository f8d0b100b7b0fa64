import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import type { HitCursor } from '../../src/engine/query/pages.ts'
import { sendPieces } from '../../src/http/answer.ts'
import { silent } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { createPool } from '../../src/search/pool.ts'
import { createReadAhead } from '../../src/search/read-ahead.ts'
import type { AnswerFormat, Pieces, SearchAnswer } from '../../src/search/service.ts'
import type { TaskMessage, Thread, ThreadReply, ThreadTask } from '../../src/search/thread-pool.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'
const store = createTestStore(generatedBlocks(24))
after(() => store.close())

const setUp = (t: TestContext, threads: number, limits: Partial<Limits> = {}) => {
  const pool = createPool({
    ...{ stores: () => new Map([[NETWORK, store.path]]), threads, deadlineMs: 10_000, inlineMs: 0 },
    limits: { ...DEFAULT_LIMITS, ...limits },
  })
  t.after(() => pool.close())
  return (entities: string, body: object, format?: AnswerFormat) =>
    pool.search({
      ...{ network: NETWORK, entities, body: Buffer.from(JSON.stringify(body)), account: 1, format },
      signal: new AbortController().signal,
    })
}

const masked = (bytes: Uint8Array[]) =>
  Buffer.concat(bytes)
    .toString()
    .replace(/"took":\d+/, '"took":0')
const byBody = async ({ body }: SearchAnswer): Promise<string> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of body as ReadableStream<Uint8Array>) chunks.push(chunk)
  return masked(chunks)
}
/** What was lent is gone with the next piece. */
const byPieces = async ({ pieces }: SearchAnswer): Promise<string> => {
  const copies: Uint8Array[] = []
  for (let piece = await pieces!.next(); piece; piece = await pieces!.next()) {
    await new Promise(resolve => setImmediate(resolve))
    copies.push(piece.slice())
  }
  return masked(copies)
}

test('however many threads make a long answer, it is the same to the byte', async t => {
  const one = setUp(t, 1)
  const four = setUp(t, 4)
  const asked: [string, object, AnswerFormat?][] = [
    ['log', {}],
    ['event', { query: { term: { 'event.raw': 'Transfer' } }, _source: ['str'] }],
    ['tx,log', { _source: ['blockHash'] }],
    ['log', { sort: { 'blockNumber.num': 'asc' }, _source: false }],
    ['log', { sort: [{ timestamp: 'desc' }, { data: 'asc' }], _source: false }],
    ['log', { sort: 'data', from: 3, _source: false }],
    ['event', { from: 700, query: { range: { 'blockNumber.num': { gte: 3 } } }, _source: ['str'] }],
    ['log', {}, 'ndjson'],
    ['tx', {}, 'csv'],
  ]
  for (const [entities, body, format] of asked) {
    const all = { ...body, size: -1 }
    const due = await one(entities, all, format).then(byBody)
    // Side by side they take threads from one another.
    const found = await Promise.all([byBody, byPieces].map(async read => read(await four(entities, all, format))))
    for (const text of found) assert.equal(text, due, JSON.stringify([entities, body, format]))
  }
})

/** Threads that are told what to answer. */
const setUpAhead = (isApart: boolean, size = 2) => {
  const threads = Array.from({ length: size }, () => ({ state: 'idle' }) as Thread)
  const asked: (ThreadTask & { number: number })[] = []
  const dropped: Thread[] = []
  const done = new Map<number, (reply: ThreadReply) => void>()
  let spare = true
  const spareIs = (is: boolean) => {
    spare = is
  }
  const ahead = createReadAhead({
    threads: {
      isSpare: () => spare,
      drop: thread => void dropped.push(thread),
      ask: one =>
        new Promise(resolve => {
          asked.push({ ...one, number: asked.length })
          done.set(asked.length - 1, resolve)
        }),
    },
    search: { id: 7 } as never,
    account: 1,
    first: {
      message: {
        ...{ type: 'answer', id: 7, status: 200, more: true, isApart },
        at: at(1),
        body: new Uint8Array(100_000),
      },
      thread: threads[0]!,
    },
    signal: new AbortController().signal,
    nextId: () => 100 + asked.length,
  })
  const run = (number: number, thread: number): TaskMessage => asked[number]!.message(threads[thread]!)
  /** Ends a part with a hit, and writes its number into what was given for it. */
  const end = (number: number, thread: number, last: number, more = true) => {
    const { into } = run(number, thread) as { into: SharedArrayBuffer }
    new Uint8Array(into)[0] = number
    done.get(number)!({ message: { type: 'part', id: 0, body: 1, more, at: at(last) }, thread: threads[thread]! })
  }
  return { ahead, threads, asked, dropped, run, end, spareIs }
}
const at = (position: number): HitCursor => ({ last: { kind: 'log', position, keys: [] }, hits: position })
const afterOf = (message: TaskMessage) => (message as { after?: HitCursor }).after?.last?.position

test('a part is begun behind the one before as soon as its end is known, by a thread that is free', async () => {
  const { ahead, asked, run, end, spareIs } = setUpAhead(true)
  const first = ahead.next()
  assert.deepEqual([run(0, 0).type, afterOf(run(0, 0))], ['more', 1])
  asked[0]!.onReached!(at(2))
  assert.deepEqual([run(1, 1).type, afterOf(run(1, 1))], ['resume', 2])
  // The one behind is done first, and waits.
  end(1, 1, 3)
  await Promise.resolve()
  end(0, 0, 2)
  assert.equal((await first).body[0], 0)
  const second = await ahead.next()
  assert.deepEqual([second.body[0], second.more], [1, true])
  spareIs(false)
  const begun = asked.length
  asked.at(-1)!.onReached!(at(9))
  assert.equal(asked.length, begun)
})

test('what was begun behind a part that ended elsewhere is made anew', async () => {
  const { ahead, asked, run, end } = setUpAhead(true)
  asked[0]!.onReached!(at(5))
  assert.equal(afterOf(run(1, 1)), 5)
  // It had to make room, and was made from another state of the store.
  end(0, 0, 4)
  end(1, 1, 8)
  assert.equal((await ahead.next()).body[0], 0)
  const next = ahead.next()
  const anew = asked.findIndex(one => one.number > 1 && afterOf(one.message({} as Thread)) === 4)
  assert.ok(anew > 1)
  end(anew, 0, 6, false)
  const { body, more } = await next
  assert.deepEqual([body[0], more], [anew, false])
})

test('parts that depend on one another are made one by one, by one thread', async () => {
  const { ahead, asked, dropped, threads, run, end } = setUpAhead(false)
  asked[0]!.onReached!(at(2))
  assert.equal(asked.length, 1)
  assert.equal(run(0, 1).type, 'resume')
  assert.deepEqual(dropped, [threads[0]])
  end(0, 1, 2)
  await ahead.next()
  assert.equal(asked.length, 2)
})

const serve = async (t: TestContext, pieces: Pieces) => {
  const ended = Promise.withResolvers<void>()
  const server = createServer(async (_, outgoing) => {
    await sendPieces(outgoing, pieces, { log: silent, path: '/' })
    ended.resolve()
  }).listen(0)
  t.after(() => server.close())
  await new Promise(resolve => server.once('listening', resolve))
  const socket = connect((server.address() as AddressInfo).port)
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  return { socket, ended: ended.promise }
}

test('memory is not written to before what it held is out', async t => {
  const memory = new Uint8Array(new SharedArrayBuffer(1 << 20))
  let sent = 0
  const { socket } = await serve(t, {
    signal: new AbortController().signal,
    cancel() {},
    next: async () => (++sent > 40 ? undefined : memory.fill(sent)),
  })
  const bytes: Buffer[] = []
  for await (const chunk of socket) {
    bytes.push(chunk)
    // A slow client.
    if (bytes.length % 20 === 0) await new Promise(resolve => setTimeout(resolve, 5))
  }
  const chunks = Buffer.concat(bytes)
  const body = chunks.subarray(chunks.indexOf('\r\n\r\n') + 4)
  const counts = new Array(41).fill(0)
  for (let from = 0; ; ) {
    const line = body.indexOf('\r\n', from)
    const length = Number.parseInt(body.toString('latin1', from, line), 16)
    if (length === 0) break
    for (const byte of body.subarray(line + 2, line + 2 + length)) counts[byte]++
    from = line + 4 + length
  }
  assert.deepEqual(counts.slice(1), new Array(40).fill(1 << 20))
})

test('a client that goes away ends its answer, and an answer that fails breaks its connection', async t => {
  const gone = Promise.withResolvers<void>()
  const endless: Pieces = {
    signal: new AbortController().signal,
    cancel: () => gone.resolve(),
    next: async () => new Uint8Array(1 << 20),
  }
  const first = await serve(t, endless)
  first.socket.once('data', () => first.socket.destroy())
  await Promise.all([gone.promise, first.ended])
  for (const fault of ['of a piece', 'while nobody reads']) {
    const ending = new AbortController()
    let sent = 0
    const failing = await serve(t, {
      signal: ending.signal,
      cancel() {},
      async next() {
        if (sent++ === 1 && fault === 'of a piece') throw new Error('a fault')
        return new Uint8Array(8 << 20)
      },
    })
    const closed = new Promise<boolean>(resolve => failing.socket.once('close', resolve))
    if (fault === 'of a piece') failing.socket.resume()
    else setTimeout(() => ending.abort(new Error('unread')), 50)
    setTimeout(() => failing.socket.resume(), 100)
    await closed
    await failing.ended
  }
})
