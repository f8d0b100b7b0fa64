import { type MessageEvent, WebSocket } from 'undici'
import { authorization, createHider, parseNodeUrl } from '../chain/node-url.ts'
import type { Secret } from '../lib/secret.ts'
import { about, type Finding } from './finding.ts'

/** Whether the node announces new blocks there. */
export const checkWebSocket = async (address: Secret, timeoutMs: number): Promise<Finding> => {
  const { ok, warn } = about('node', `WebSocket at ${address}`)
  const why = await subscribe(address.reveal(), timeoutMs)
  return why === undefined
    ? ok('takes a subscription to new blocks')
    : warn(why, 'Check --ws. Until it works, the head is polled, and blocks come a little later.')
}

/** Undefined where it worked. */
const subscribe = (text: string, timeoutMs: number): Promise<string | undefined> =>
  new Promise(resolve => {
    const url = parseNodeUrl(text, ['ws:', 'wss:'])
    const hide = createHider(url)
    const socket = new WebSocket(bare(url), { headers: authorization(url) })
    const settle = (why?: string) => {
      clearTimeout(timer)
      socket.close()
      resolve(why)
    }
    const timer = setTimeout(() => settle(`does not answer within ${timeoutMs / 1_000} s`), timeoutMs)
    socket.onopen = () =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
    socket.onmessage = ({ data }: MessageEvent) => settle(refusalIn(String(data), hide))
    socket.onerror = () => settle('cannot be connected to')
    socket.onclose = () => settle('closed the connection')
  })

/** Credentials go in a header. */
const bare = (url: URL): string => {
  const copy = new URL(url)
  copy.username = ''
  copy.password = ''
  return copy.href
}

const refusalIn = (text: string, hide: (text: string) => string): string | undefined => {
  try {
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: { message?: unknown } }
    if (typeof result === 'string') return undefined
    return `refuses a subscription to new blocks: ${hide(String(error?.message ?? 'no reason'))}`
  } catch {
    return 'answers what is not JSON'
  }
}
