import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

/** Path of anvil where its optional package is installed for this platform. */
export const anvilPath: string | undefined = (() => {
  try {
    return createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil')
  } catch {
    return undefined
  }
})()

export interface Anvil {
  url: string
  wsUrl: string
  call<T = unknown>(method: string, ...params: unknown[]): Promise<T>
  from: string
  /** Sends a transaction, from that account unless it names another, and resolves when it is mined. */
  send(transaction: Record<string, unknown>): Promise<Receipt>
  stop(): Promise<void>
}

export interface Receipt {
  transactionHash: string
  contractAddress: string
  blockNumber: string
  blockHash: string
  status: string
}

/** Sends a transaction by a node that has its account, and resolves when it is mined. */
export const sendBy = async (call: Anvil['call'], transaction: Record<string, unknown>): Promise<Receipt> => {
  const hash = await call<string>('eth_sendTransaction', { gas: '0x1c9c380', ...transaction })
  for (;;) {
    const receipt = await call<Receipt | null>('eth_getTransactionReceipt', hash)
    if (receipt) return receipt
    await sleep(5)
  }
}

/** A real node with ten funded, unlocked accounts, on a free port unless one is named, that mines a block for each transaction unless told otherwise. */
export const startAnvil = async (
  t: { after(fn: () => Promise<void>): void },
  args: readonly string[] = [],
  ownPort = 0,
): Promise<Anvil> => {
  const child = spawn(anvilPath!, ['--port', String(ownPort), '--host', '127.0.0.1', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill()
    await exited
  }
  t.after(stop)
  const port = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', chunk => {
      text += chunk
      const match = /Listening on 127\.0\.0\.1:(\d+)/.exec(text)
      if (match) resolve(match[1]!)
    })
    exited.then(() => reject(new Error(`anvil ended: ${text}`)), reject)
  })
  const url = `http://127.0.0.1:${port}`
  const call = async <T>(method: string, ...params: unknown[]) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
  const [from] = (await call<string[]>('eth_accounts')) as [string]
  return {
    ...{ url, wsUrl: `ws://127.0.0.1:${port}`, from, call, stop },
    send: transaction => sendBy(call, { from, ...transaction }),
  }
}
