import type { Finding } from '../../doctor/finding.ts'
import { command } from '../command.ts'
import { CLUSTER, NODE, SERVER } from '../setting-lists.ts'
import { count, showText } from '../show.ts'

export const doctor = command({
  name: 'doctor',
  usage: '[options]',
  summary:
    'Checks nodes, stored data, clusters, clock, mail server, webhooks, disk and file modes, and says what to do. Sends no alerts.',
  settings: [...NODE, ...CLUSTER, ...SERVER],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, print }) => {
    const findings: Finding[] = []
    for await (const finding of services.diagnose(config, { log, shutdown })) {
      findings.push(finding)
      if (!config.json) print(show(finding))
    }
    const failed = findings.filter(({ state }) => state === 'fail').length
    const warned = findings.filter(({ state }) => state === 'warn').length
    if (config.json) print(JSON.stringify({ ok: failed === 0, findings }))
    else print(`\n${count(findings.length, 'check')}: ${failed} failed, ${count(warned, 'warning')}.`)
    return failed > 0 ? 1 : 0
  },
})

const show = ({ check, subject, state, found, remedy }: Finding): string => {
  const line = `${state.padEnd(4)}  ${check.padEnd(7)}  ${showText(subject)}: ${showText(found, 400)}.`
  return remedy === undefined ? line : `${line}\n                 ${remedy}`
}
