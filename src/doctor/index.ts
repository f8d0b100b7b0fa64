import type { Config } from '../config/index.ts'
import { messageOf } from '../lib/errors.ts'
import { redact } from '../lib/secret.ts'
import { type Check, type Finding, type Findings, findingsAbout } from './finding.ts'
import { checkClock, checkDisk, checkModes, type ObservedTimes } from './machine.ts'
import { checkNodes } from './node.ts'
import { checkMail, checkWebhooks } from './receivers.ts'
import { checkClusters, checkStores } from './store.ts'

export type { Finding } from './finding.ts'

/** Checks all requirements of the program. Sends nothing to receivers, and stores nothing. */
export async function* diagnose(config: Config, signal: AbortSignal): AsyncGenerator<Finding> {
  const watch: ObservedTimes = { startedAt: Date.now(), started: performance.now(), heads: [] }
  const checks: [Check, () => Findings][] = [
    ['disk', () => checkDisk(config)],
    ['files', () => checkModes(config)],
    ['store', () => checkStores(config)],
    ['cluster', () => checkClusters(config)],
    ['node', () => checkNodes(config, watch, signal)],
    ['clock', () => checkClock(config, watch)],
    ['mail', () => checkMail(config)],
    ['webhook', () => checkWebhooks(config, signal)],
  ]
  for (const [check, findings] of checks)
    try {
      for await (const finding of findings()) {
        signal.throwIfAborted()
        yield finding
      }
    } catch (error) {
      signal.throwIfAborted()
      yield findingsAbout(check, config.data).fail(
        `could not be checked: ${redact(messageOf(error))}`,
        'Read the message, and run chainsieve doctor again.',
      )
    }
}
