import { setImmediate } from 'node:timers/promises'
import type { Hex } from '../../src/chain/wire.ts'
import type { LiveChain } from './chain.ts'
import type { Soaked } from './server.ts'

export const CONFIRMATIONS = 4
/** Every so many blocks there is one for receivers that never take anything. */
const DEAD_EVERY = 30

/** Each rule that is audited, with the documents of a block for which it fires. The name is the path of its receiver. */
const RULES = {
  block: {
    confirmations: 0,
    targetType: 'Block',
    condition: { name: 'number', operator: 'Greater or Equal', value: '0' },
    documents: ({ block }) => [block.hash],
  },
  deep: {
    confirmations: CONFIRMATIONS,
    targetType: 'Block',
    condition: { name: 'number', operator: 'Greater or Equal', value: '0' },
    documents: ({ block }) => [block.hash],
  },
  failed: {
    confirmations: CONFIRMATIONS,
    targetType: 'Transaction',
    condition: { name: 'status', operator: 'Equals', value: 'false' },
    documents: ({ receipts }) =>
      receipts.filter(({ status }) => status === '0x0').map(({ transactionHash }) => transactionHash as Hex),
  },
} satisfies Record<string, SoakRule>

interface SoakRule {
  confirmations: number
  targetType: string
  condition: object
  documents: (raw: NonNullable<ReturnType<LiveChain['block']>>) => string[]
}

export const EARLY: ReadonlySet<string> = new Set(
  Object.entries(RULES).flatMap(([name, { confirmations }]) => (confirmations === 0 ? [name] : [])),
)

/** Creates the rules, and two whose receivers are dead; returns the first block that they look at. */
export const createRules = async (
  server: Soaked,
  network: string,
  receiver: string,
  dead: string,
  tip: number,
): Promise<Map<string, number>> => {
  const starts = new Map<string, number>()
  for (const [name, { confirmations, targetType, condition }] of Object.entries(RULES)) {
    const webhook =
      name === 'failed'
        ? { type: 'Webhook (GET)', parameters: { url: `${receiver}/${name}?document={hash}` } }
        : {
            type: 'Webhook (POST)',
            parameters: { url: `${receiver}/${name}` },
            payload: [{ fieldType: 'Field', fieldName: 'hash' }],
          }
    starts.set(name, await create(server, network, name, confirmations, { targetType, condition, webhook }))
  }
  const numbers = Array.from({ length: 400 }, (_, i) => String(tip + (i + 1) * DEAD_EVERY))
  for (const [i, url] of [dead, `${receiver}/hang`].entries())
    await create(server, network, `dead ${i}`, 0, {
      targetType: 'Block',
      condition: { name: 'number', operator: 'Equals any', value: numbers },
      webhook: { type: 'Webhook (POST)', parameters: { url }, payload: [{ fieldType: 'Field', fieldName: 'hash' }] },
    })
  return starts
}

const create = async (
  server: Soaked,
  name: string,
  ruleName: string,
  confirmations: number,
  { targetType, condition, webhook }: { targetType: string; condition: object; webhook: object },
): Promise<number> => {
  const [technology, blockchain, network] = name.split('/')
  const answer = await server.ask('/alerting/rules/', {
    ...{ name: ruleName, maxConfirmationCount: confirmations, technology, blockchain, network },
    config: { targetType, targetMap: [condition], alerts: [webhook] },
  })
  if (answer.status !== 201) throw new Error(`a rule was answered with ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { startBlock: number }).startBlock
}

/** For each rule, the documents of the chain for which it had to fire by now. */
export const dueOf = async (
  chain: LiveChain,
  starts: ReadonlyMap<string, number>,
): Promise<Map<string, Set<string>>> => {
  const rules = Object.entries(RULES) as [string, SoakRule][]
  const due = new Map(rules.map(([name]) => [name, new Set<string>()]))
  const tip = chain.tip()
  for (let number = Math.min(...starts.values()); number <= tip; number++) {
    const raw = chain.block(number)!
    for (const [name, { confirmations, documents }] of rules)
      if (number >= starts.get(name)! && number <= tip - confirmations)
        for (const document of documents(raw)) due.get(name)!.add(document)
    // Node and receiver answer from this process.
    await setImmediate()
  }
  return due
}
