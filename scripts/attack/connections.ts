import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { Random } from '../lib/random.ts'
import { type Attack, brief, pick, tryEach } from './attack.ts'
import { ask, pause, SCENARIO_NETWORK, type ServeOptions, type Victim } from './server.ts'

interface Flood {
  name: string
  connections: number
  /** What one connection does once it is open; called again and again while the flood lasts. */
  act?(socket: Socket, victim: Victim, random: Random): void
  serve?: ServeOptions
  /** More than the server may take: then the honest client may have to wait until it is over. */
  beyond?: true
}

const FEW_FILES: ServeOptions = { openFiles: 200 }
const SOME_FILES: ServeOptions = { openFiles: 1_024 }

const once = (send: (victim: Victim, random: Random) => string | Buffer): NonNullable<Flood['act']> => {
  const done = new WeakSet<Socket>()
  return (socket, victim, random) => {
    if (done.has(socket)) return
    done.add(socket)
    socket.write(send(victim, random))
  }
}

const HEAD = 'GET /health HTTP/1.1\r\nhost: a\r\n'
const search = ({ tokens }: Victim, length: number) =>
  `POST /${SCENARIO_NETWORK}/es/tx/search/ HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${tokens[1]}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

export const FLOODS: readonly Flood[] = [
  { name: 'silent connections', connections: 300 },
  { name: 'silent connections beyond the open files', connections: 3_000, serve: SOME_FILES, beyond: true },
  { name: 'silent connections with few open files', connections: 600, serve: FEW_FILES, beyond: true },
  {
    name: 'heads that never end',
    connections: 300,
    act: (socket, _, random) => socket.write(`x-${random.word().slice(0, 4)}: 1\r\n`),
  },
  { name: 'half a request', connections: 300, act: once(() => HEAD) },
  {
    name: 'bodies that never end',
    connections: 300,
    act: (socket, victim) => socket.write(socket.bytesWritten === 0 ? search(victim, 1_000_000) : ' '),
  },
  {
    name: 'endless headers',
    connections: 100,
    act: (socket, _, random) =>
      socket.write(socket.bytesWritten === 0 ? HEAD : `x-${random.word()}: ${'y'.repeat(4_000)}\r\n`.repeat(10)),
  },
  {
    name: 'many headers',
    connections: 100,
    act: once((_, random) => `${HEAD}${`a${random.below(9)}: 1\r\n`.repeat(5_000)}\r\n`),
  },
  { name: 'pipelined requests', connections: 20, act: once(() => `${HEAD}\r\n`.repeat(500)) },
  {
    name: 'pipelined searches that nobody reads',
    connections: 20,
    act(socket, victim) {
      socket.pause()
      if (socket.bytesWritten === 0) socket.write(`${search(victim, 11)}{"size":-1}`.repeat(200))
    },
  },
  { name: 'connections that are kept alive', connections: 500, act: once(() => `${HEAD}\r\n`) },
  {
    name: 'no HTTP',
    connections: 200,
    act: once((_, random) =>
      pick(random, [
        Buffer.from('1603010200010001fc0303', 'hex'),
        Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
        Buffer.from(random.word(), 'hex'),
        Buffer.from('GET / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET'),
        Buffer.from('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n'),
        Buffer.from(`GET ${'/x'.repeat(50_000)} HTTP/1.1\r\n\r\n`),
      ]),
    ),
  },
]

/** Addresses that floods come from; the honest client has another one. */
const ADDRESSES = ['127.0.0.1', '127.0.0.3', '127.0.0.4']
const HOLD_MS = 5_000
/** What cannot open a file fails when a timer next wants to. */
const HOLD_BEYOND_MS = 12_000
const ACT_MS = 250
const HEALTH_MS = 100
const CALM_MS = 10_000
/** Files that a server may keep open after a flood, beyond those before it. */
const SPARE_FILES = 20

export const connections: Attack = {
  name: 'connections',
  is: 'floods of connections, below and beyond what the process may have open: the process lives, others are served',
  async run(context) {
    const notes: string[] = []
    const victims = new Map<ServeOptions | undefined, Victim>()
    const made = await tryEach(context, FLOODS.length, async ({ attempt, random, find }) => {
      const flood = FLOODS[attempt % FLOODS.length]!
      const known = victims.get(flood.serve)
      const victim = known?.alive() ? known : await context.serve(flood.serve)
      victims.set(flood.serve, victim)
      const { faults, note } = await run(flood, victim, random)
      notes.push(`${flood.name}: ${note}`)
      for (const what of faults) find(what, `${flood.name}: ${note}`)
    })
    return { ...made, notes }
  },
}

const run = async (flood: Flood, victim: Victim, random: Random): Promise<{ faults: string[]; note: string }> => {
  const faults: string[] = []
  const before = await settledFiles(victim.pid)
  const sockets = Array.from({ length: flood.connections }, (_, i) => {
    const socket = connect({ host: '127.0.0.1', port: victim.port, localAddress: ADDRESSES[i % ADDRESSES.length]! })
    // A client that reads, so that what it is answered with does not pile up, and that does not care when it is hung up on.
    return socket.on('error', () => {}).on('data', () => {})
  })
  const times: number[] = []
  const end = performance.now() + (flood.beyond ? HOLD_BEYOND_MS : HOLD_MS)
  while (performance.now() < end && victim.alive()) {
    for (const socket of sockets) if (socket.readyState === 'open') flood.act?.(socket, victim, random)
    const { status, ms, text } = await ask(victim.port, '/health', { timeoutMs: 2_000 })
    times.push(status === 200 ? ms : Number.POSITIVE_INFINITY)
    if (status >= 500) faults.push(`a ${status}: ${brief(text, 200)}`)
    await pause(ACT_MS)
  }
  const open = sockets.filter(({ readyState }) => readyState === 'open').length
  const most = openFiles(victim.pid)
  for (const socket of sockets) socket.destroy()
  times.sort((a, b) => a - b)
  // The machine may be busy now and then.
  const usual = times[times.length >> 1] ?? Number.POSITIVE_INFINITY
  if (!victim.alive()) faults.push('the process ended')
  else {
    if (!flood.beyond && usual > HEALTH_MS) faults.push('another client waits for /health')
    faults.push(...(await faultsAfter(victim, before)))
  }
  const note = `${open} of ${flood.connections} connections stayed, files ${before} → ${most}, /health ${Math.round(usual)} ms`
  return { faults, note }
}

/** What is not as it was before, some time after the flood. */
const faultsAfter = async (victim: Victim, before: number): Promise<string[]> => {
  const end = performance.now() + CALM_MS
  for (;;) {
    const faults: string[] = []
    const health = await ask(victim.port, '/health', { timeoutMs: 2_000 })
    if (health.status !== 200 || health.ms > HEALTH_MS) faults.push('after the flood /health is not as before')
    const answer = await ask(victim.port, `/${SCENARIO_NETWORK}/es/tx/search/`, { token: victim.tokens[0], body: '{}' })
    if (answer.status !== 200) faults.push(`after the flood a search is answered by ${answer.status}`)
    if (openFiles(victim.pid) > before + SPARE_FILES) faults.push('after the flood connections stay open')
    if (!victim.alive()) return ['the process ended']
    if (faults.length === 0 || performance.now() > end) return faults
    await pause(500)
  }
}

/** Files that are open once the threads have started that go after the first answers. */
const settledFiles = async (pid: number): Promise<number> => {
  for (let known = -1; ; ) {
    const open = openFiles(pid)
    if (open === known) return open
    known = open
    await pause(SETTLE_MS)
  }
}

const SETTLE_MS = 700

/** 0 where the system does not tell. */
const openFiles = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}
