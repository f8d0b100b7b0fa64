import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RuleConfig, RuleInput } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { createToken, startServer, until } from '../lib/program.ts'
import { type Times, timesOf } from '../lib/table.ts'
import { FIRST_BLOCK, generateBlocks } from './generate.ts'
import { startPackNode } from './node.ts'
import { WINDOW_SPEC } from './windows.ts'

/** From a block to its webhooks: a real server follows a node that gets its blocks one by one; node and receiver are in this process. */
export interface AlertsMeasured {
  /** From the moment at which a block's receipts were handed out to the moment at which a webhook of it has arrived, in milliseconds. */
  latency: Times
  /** Of the first block, as part of them: after it, the program has done everything once. */
  firstMs: number
  rules: number
  windowed: number
  /** Webhooks that arrived a second while more of them waited. */
  perSecond: number
  delivered: number
}

interface AlertsOptions {
  program: string
  seed: number
  /** Rules that never fire. */
  quiet: number
  /** How many of them sum the transfers of USDT in windows. */
  windowed?: number
  blocks: number
  /** Blocks at once, all of whose logs fire; default 20. */
  flood?: number
}

const FIRING = 5
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const GAP_MS = 100
const PATIENCE_MS = 60_000
const NETWORK = { technology: 'ethereum', blockchain: 'ethereum', network: 'mainnet' }

export const measureAlerts = async ({
  program,
  seed,
  quiet,
  windowed = 0,
  blocks,
  flood = 20,
}: AlertsOptions): Promise<AlertsMeasured> => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-bench-alerts-'))
  const chain = [...generateBlocks({ seed, count: 1 + blocks + flood })]
  const flooded = FIRST_BLOCK + 1 + blocks
  const logs = chain.slice(1 + blocks).reduce((sum, { receipts }) => sum + receipts.flatMap(it => it.logs).length, 0)
  const node = await startPackNode(chain, FIRST_BLOCK)
  const cleanUps: (() => unknown)[] = []
  const receiver = await startAlertReceiver({ after: fn => void cleanUps.push(fn) })
  const asked = new Map<number, number>()
  node.onAsked = number => asked.set(number, performance.now())
  try {
    await createToken(program, data)
    writeRules(data, receiver.url, { quiet, windowed, flooded })
    const server = await startServer(program, [
      ...['--data', data, '--port', '0', '--network', 'ethereum/ethereum/mainnet', '--rpc', node.url],
      ...['--from', String(FIRST_BLOCK), '--poll-interval', '10ms', '--allow-target', '127.0.0.1/32'],
    ])
    try {
      await untilCame(() => asked.has(FIRST_BLOCK))
      await sleep(1000)
      for (let i = 1; i <= blocks; i++) {
        node.head = FIRST_BLOCK + i
        await sleep(GAP_MS)
      }
      await untilCame(() => receiver.arrivals.length >= blocks * FIRING)
      const latencies = receiver.arrivals.map(({ block, at }) => at - asked.get(block)!)
      const [latency, firstMs] = [timesOf(latencies), Math.max(...latencies.slice(0, FIRING))]
      const before = receiver.arrivals.length
      node.head = FIRST_BLOCK + blocks + flood
      await untilCame(() => receiver.arrivals.length >= before + logs + flood * FIRING)
      const last = receiver.arrivals.slice(before)
      const seconds = (last.at(-1)!.at - last[0]!.at) / 1000
      return {
        latency,
        firstMs,
        rules: quiet + FIRING,
        windowed,
        perSecond: last.length / seconds,
        delivered: last.length,
      }
    } finally {
      await server.stop()
    }
  } finally {
    node.close()
    for (const cleanUp of cleanUps) cleanUp()
    rmSync(data, { recursive: true, force: true })
  }
}

/** Notes when webhooks of each block arrive. */
const startAlertReceiver = async (t: { after(fn: () => unknown): void }) => {
  const arrivals: { block: number; at: number }[] = []
  const { url } = await startReceiver(t, ({ body }) => {
    const at = performance.now()
    const { payload } = JSON.parse(body) as { payload: Record<string, { num: number }> }
    arrivals.push({ block: (payload.number ?? payload.blockNumber)!.num, at })
    return { status: 200 }
  })
  return { url, arrivals }
}

const writeRules = (
  data: string,
  url: string,
  { quiet, windowed, flooded }: { quiet: number; windowed: number; flooded: number },
) => {
  const rules = openRules(data)
  const add = (name: string, config: Omit<RuleConfig, 'alerts'>, field: string, startBlock: number) => {
    const parameters = { url: `${url}/${encodeURIComponent(name)}` }
    const payload = [{ fieldType: 'Field' as const, fieldName: field }]
    const alerts: RuleConfig['alerts'] = [{ type: 'Webhook (POST)', parameters, payload }]
    rules.create(
      1,
      { name, maxConfirmationCount: 0, ...NETWORK, config: { ...config, alerts } } satisfies RuleInput,
      startBlock,
    )
  }
  rules.together(() => {
    for (let i = 0; i < FIRING; i++)
      add(
        `every block ${i}`,
        { targetType: 'Block', targetMap: [{ name: 'number', operator: 'Greater', value: String(i) }] },
        'number',
        FIRST_BLOCK + 1,
      )
    add(
      'every log',
      { targetType: 'Log', targetMap: [{ name: 'logIndex', operator: 'Greater or Equal', value: '0' }] },
      'blockNumber',
      flooded,
    )
    const transfers: RuleConfig['targetMap'] = [
      { name: 'event', operator: 'Equals', value: 'Transfer' },
      { name: 'address', operator: 'Equals', value: USDT },
    ]
    for (let i = 0; i < windowed; i++)
      add(`window ${i}`, { targetType: 'Event', targetMap: transfers, when: WINDOW_SPEC }, 'blockNumber', FIRST_BLOCK)
    for (let i = windowed; i < quiet; i++) {
      const value = `0x${(i + 1).toString(16).padStart(40, '0')}`
      add(
        `quiet ${i}`,
        { targetType: 'Transaction', targetMap: [{ name: 'to', operator: 'Equals (ignore case)', value }] },
        'hash',
        FIRST_BLOCK,
      )
    }
  })
  rules.close()
}

const untilCame = (holds: () => boolean) => until(holds, PATIENCE_MS, 'webhooks that are due', 5)
