import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type Behaviour, NETWORK, OTHER, serveChain, startHost, tellOfBlocks, timeAlerts } from './alerts.ts'
import type { Attack } from './attack.ts'
import { pause } from './server.ts'
import { findingsIn, showSeen, watchOther } from './watch.ts'

const BLOCKS = 20
const EACH = 15

const CHUNK = Buffer.alloc(1 << 20)
const BOMB = gzipSync(Buffer.alloc(100 << 20))

const pour = (response: ServerResponse) => {
  const more = () => {
    while (!response.destroyed && response.write(CHUNK));
  }
  response.on('drain', more)
  more()
}

const drip = (response: ServerResponse, text: string) => {
  const timer = setInterval(() => response.write(text), 100)
  response.on('close', () => clearInterval(timer))
}

const raw =
  (text: string): Behaviour =>
  request =>
    void request.socket.end(text)

const HOSTILE: Record<string, Behaviour> = {
  hangs: () => {},
  'drips-its-head': ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x: y\r\n'), 100)
    socket.on('close', () => clearInterval(timer))
  },
  'drips-its-body': (_, response) => drip(response.writeHead(200), '.'),
  'has-no-end': (_, response) => pour(response.writeHead(200)),
  'claims-a-gigabyte': (_, response) => pour(response.writeHead(500, { 'content-length': String(1 << 30) })),
  'is-a-bomb': (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
  redirects: ({ url }, response) => void response.writeHead(302, { location: url! }).end(),
  resets: ({ socket }) => void (socket as Socket).resetAndDestroy(),
  'is-gone': (_, response) => void response.writeHead(410).end(),
  'asks-for-a-year': (_, response) => void response.writeHead(429, { 'retry-after': '31536000' }).end(),
  'asks-for-nonsense': (_, response) => void response.writeHead(503, { 'retry-after': '-1e999, soon' }).end(),
  'speaks-no-http': raw('220 mail.example ESMTP\r\n'),
  'has-bad-headers': raw(
    'HTTP/1.1 200 OK\r\ncontent-length: -5\r\ntransfer-encoding: chunked\r\n: \u0000\r\n\r\nzz\r\n',
  ),
  'has-long-headers': raw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1 << 20)}\r\n\r\n`),
  'upgrades-without-being-asked': raw(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n',
  ),
}

/** Rules of one account name them, and the alerts of another, on the same host, must arrive all the same. */
export const receivers: Attack = {
  name: 'receivers',
  is: 'receivers that hang, drip, lie and never end: the alerts of another account on the same host arrive at once',
  async run({ serve, tries }) {
    const chain = await serveChain(serve)
    const host = await startHost(HOSTILE)
    const { victim } = chain
    const [other, attacker] = victim.tokens
    try {
      const kinds = Object.keys(HOSTILE)
      for (const kind of kinds)
        for (let i = 0; i < EACH; i++) await tellOfBlocks(victim, attacker, `${host.url}/${kind}/${i}`)
      await tellOfBlocks(victim, other, `${host.url}${OTHER}`)
      await pause(1_000)
      const watch = await watchOther({ url: victim.url, network: NETWORK, token: other })
      const blocks = [...tries(BLOCKS)].length
      const { findings, worstMs } = await timeAlerts(chain, host, blocks)
      const seen = await watch.stop()
      const during = `${kinds.length * EACH} hostile receivers`
      return {
        tries: blocks,
        findings: [...findings, ...findingsIn(during, seen)],
        worstMs,
        notes: [
          `${host.hits()} requests to ${during}; the other alerts came within ${Math.round(worstMs)} ms`,
          showSeen(during, seen),
        ],
      }
    } finally {
      host.close()
      await chain.close()
    }
  },
}
