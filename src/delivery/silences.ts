import { asToken, followPath, withList } from '../rules/notify/values.ts'
import { covers, type StoredRule } from '../rules/rule.ts'
import type { SilenceMatcher } from '../rules/silences/check.ts'
import type { Silences, StoredSilence } from '../rules/silences/store.ts'
import type { AlertMessage } from './channels/channel.ts'

/** A message that is about to be sent. */
interface Sending {
  account: number
  channel: string
  message: AlertMessage
}

/** The silence that covers a message at `now`, if any. */
export type FindSilence = (sending: Sending, now: number) => StoredSilence | undefined

/**
 * Only news is silenced. What corrects a message that was sent, such as a retraction, is sent, since
 * its receiver would otherwise believe it for ever.
 */
const SILENCED_TYPES: readonly AlertMessage['type'][] = ['alert.pending', 'alert.confirmed', 'alert.repeated']

interface SilenceFinderOptions {
  silences: Pick<Silences, 'unfinished'>
  /** Changes with each write to the silences. */
  version(): number
  rules(id: number): StoredRule | undefined
}

export type SilenceFinder = ReturnType<typeof createSilenceFinder>

/** Keeps the silences that are not over, and reads them again after a change. */
export const createSilenceFinder = ({ silences, version, rules }: SilenceFinderOptions) => {
  let known: readonly StoredSilence[] = []
  let knownVersion: number | undefined

  const find: FindSilence = ({ account, channel, message }, now) =>
    SILENCED_TYPES.includes(message.type)
      ? known.find(
          it =>
            it.account === account &&
            it.from <= now &&
            now < it.to &&
            isCovered(it.matcher, { channel, message, rule: () => rules(message.rule.id) }),
        )
      : undefined

  return {
    find,
    /** Whether some silence is not over. */
    refresh(now: number): boolean {
      const current = version()
      known = current === knownVersion ? known.filter(({ to }) => now < to) : silences.unfinished(now)
      knownVersion = current
      return known.length > 0
    },
  }
}

const isCovered = (
  { rules, network, channel, labels = {}, fields = {} }: SilenceMatcher,
  sent: Omit<Sending, 'account'> & { rule(): StoredRule | undefined },
): boolean => {
  const { message } = sent
  return (
    (rules === undefined || rules.includes(message.rule.id)) &&
    (network === undefined || covers(network, message.network)) &&
    (channel === undefined || channel === sent.channel) &&
    Object.entries(labels).every(([name, value]) => ruleLabel(sent.rule(), name) === value) &&
    Object.entries(fields).every(([name, value]) => isSameText(messageField(message, name), value))
  )
}

const ruleLabel = (rule: StoredRule | undefined, name: string): string | undefined => {
  const value = rule && Object.hasOwn(rule.input, name) ? rule.input[name] : undefined
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value)
}

const messageField = ({ source, targetType }: AlertMessage, name: string): string | undefined => {
  const value = followPath(withList(source, targetType), name.split('.'))
  return value === undefined || value === null ? undefined : asToken(value)
}

/** Hex is the same in any case. */
const isSameText = (value: string | undefined, wanted: string): boolean =>
  value === wanted || (/^0x/i.test(wanted) && value?.toLowerCase() === wanted.toLowerCase())
