import { isIPv6 } from 'node:net'
import { toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { messageOf, stop } from '../../lib/errors.ts'
import { command } from '../command.ts'

export const health = command({
  name: 'health',
  usage: '[--ready] [options]',
  summary: 'Checks that the server at --host and --port lives. Exit code 0 if it does, 1 if not.',
  settings: ['host', 'port', 'tlsCert'],
  options: {
    ready: setting(toggle, 'false', 'Checks that the server is ready: that everything it should do is done.'),
  },
  arity: [0, 0],
  run: async ({ config, options, print }) => {
    const url = `${config.tlsCert === undefined ? 'http' : 'https'}://${reachable(config.host)}:${config.port}/${options.ready ? 'ready' : 'health'}`
    const { status, body } = await ask(url).catch(error => {
      throw stop('no_answer', `${url} does not answer: ${messageOf(error)}`)
    })
    print(body)
    if (status !== 200) throw stop('unwell', `${url} answers ${status}`)
  },
})

/** A server that listens on every address listens on this machine's own. */
const reachable = (host: string): string => {
  const one = new Map([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
  ])
  const address = one.get(host) ?? host
  return isIPv6(address) ? `[${address}]` : address
}

/** By Node's own client, which starts sooner than the one that asks nodes. A certificate is for other names than this machine's: nothing secret is sent. */
const ask = async (url: string): Promise<{ status: number | undefined; body: string }> => {
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'))
  const options = { agent: false, rejectUnauthorized: false, signal: AbortSignal.timeout(PATIENCE_MS) } as const
  return new Promise((resolve, reject) => {
    const asked = request(url, options, async answer => {
      try {
        const chunks: Buffer[] = []
        for await (const chunk of answer) chunks.push(chunk as Buffer)
        resolve({ status: answer.statusCode, body: Buffer.concat(chunks).toString() })
      } catch (error) {
        reject(error)
      }
    })
    asked.on('error', reject).end()
  })
}

/** A server that is busy answers within a second. */
const PATIENCE_MS = 5_000
