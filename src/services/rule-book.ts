import type { RuleBook } from '../cli/index.ts'
import type { Config } from '../config/index.ts'
import { createGuard } from '../delivery/guard.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import { ENDED, type Ended } from '../delivery/upkeep.ts'
import { refuse } from '../lib/errors.ts'
import { silent } from '../lib/log.ts'
import { systemClock } from '../lib/retry.ts'
import { checkGrowth, checkRoom } from '../rules/room.ts'
import type { RuleInput, StoredRule } from '../rules/rule.ts'
import { checkRule } from '../rules/schema.ts'
import { openSecrets } from '../rules/secrets.ts'
import { networkOf, type Rules } from '../rules/store.ts'
import type { Pool } from '../search/pool.ts'
import { alertFor } from './alerting.ts'
import { createOwnAbis } from './own-abis.ts'

export interface RuleBookOptions {
  account: number
  config: Config
  /** Of SQLite's binding, where it needs one. */
  native: { native?: string }
  rules: Rules
  /** Undefined where nothing was ever delivered. */
  deliveries(): DeliveryStore | undefined
  openDeliveries(): DeliveryStore
  networks(): readonly string[]
  openPool(): Pool
  /** What a server that runs on the folder says of its networks. */
  heads(): readonly { network: string; head: number | null }[]
  signal: AbortSignal
}

const CANCEL_AT_ONCE = 2_000

/** The rules of one account in a data folder, whether or not a server has it open. */
export const createRuleBook = (options: RuleBookOptions): RuleBook => {
  const { account, config, rules, networks, openPool, signal } = options
  const { limits } = config
  const guard = createGuard(config.allowTarget)
  const abis = createOwnAbis(config.data)

  const ruleOf = (id: number): StoredRule => {
    const rule = rules.get(account, id)
    if (!rule) throw refuse('unknown_rule', `There is no rule ${id} of this account.`)
    return rule
  }

  const checked = (value: unknown, before?: RuleInput): RuleInput => {
    const { rule, faults } = checkRule(value, { refusedHost: guard.refusedHost, abis, limits, before })
    if (!rule) throw refuse('bad_rule', faults.map(({ path, message }) => `${path}: ${message}`).join('\n'))
    return rule
  }

  /** As a running server has it: above everything that is known; null where nothing is. */
  const startBlockOf = async (network: string): Promise<number | null> => {
    const stored = networks().includes(network) ? (await openPool().ranges(network)).at(-1)?.to : undefined
    const head = options.heads().find(it => it.network === network)?.head
    if (stored === undefined && (head === undefined || head === null)) return null
    return Math.max(stored ?? -1, head ?? -1) + 1
  }

  const cancel = (rule: number, why: Ended, since: number): number => {
    const store = options.deliveries()
    if (!store) return 0
    while (store.cancelRule(rule, Date.now(), ENDED[why], CANCEL_AT_ONCE).length === CANCEL_AT_ONCE);
    if (why === 'paused') store.endPause(rule, true)
    return store.cancelledSince(rule, ENDED[why], since)
  }

  return {
    list: async () => rules.list(account).map(shown),

    async create(rule) {
      const { startBlock, ...input } = checked(rule)
      const start = startBlock ?? (await startBlockOf(networkOf(input)))
      const made = rules.together(() => {
        checkRoom(rules, account, input, limits)
        return rules.create(account, input, start)
      })
      await rules.synced()
      return shown(made)
    },

    async put(id, change, { replace } = { replace: false }) {
      const since = Date.now()
      for (;;) {
        const before = ruleOf(id)
        const { startBlock, ...input } = checked(replace ? change : { ...before.input, ...change }, before.input)
        const network = networkOf(input)
        const start = startBlock ?? (network === before.network ? undefined : await startBlockOf(network))
        const after = rules.together(() => {
          checkGrowth(rules, before, input, limits)
          return rules.update(account, id, input, { ifRevision: before.revision, startBlock: start })
        })
        // Somebody else's change came between reading and writing.
        if (after === 'absent' || after === 'changed') continue
        await rules.synced()
        const pauses = before.enabled && !after.enabled
        return { ...shown(after), ...(pauses && { cancelledDeliveries: cancel(id, 'paused', since) }) }
      }
    },

    async remove(id) {
      const since = Date.now()
      ruleOf(id)
      rules.remove(account, id)
      await rules.synced()
      return { cancelledDeliveries: cancel(id, 'deleted', since) }
    },

    async test(id, document) {
      const rule = ruleOf(id)
      if (rule.unfit !== undefined) throw refuse('bad_rule', rule.unfit)
      const { network, alert } = await alertFor({ networks, pool: openPool() }, rule, document, signal)
      // HTTP and mail take a while to load, which a server's start does not wait for.
      const [{ createChannels }, { createSender }] = await Promise.all([
        import('../delivery/index.ts'),
        import('../delivery/sender.ts'),
      ])
      const { allowTarget, smtp, mailFrom, deliveryTimeout } = config
      const channels = createChannels({ allowed: allowTarget, smtp, mailFrom, timeoutMs: deliveryTimeout })
      const secrets = openSecrets(config.data, options.native)
      try {
        const sender = createSender({
          store: options.openDeliveries(),
          channels,
          secrets: account => [secrets.ensure(account), ...secrets.current(account).slice(1)],
          signal,
          clock: systemClock,
          log: silent,
        })
        return { entity: alert.entity, deliveries: await sender.test({ ...rule, network }, alert, signal) }
      } finally {
        secrets.close()
        await channels.close()
      }
    },
  }
}

const shown = ({ id, enabled, startBlock, input }: StoredRule) => ({ ...input, id, enabled, startBlock })
