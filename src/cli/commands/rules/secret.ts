import { duration, text, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { command, misused } from '../../command.ts'

const DAY_MS = 86_400_000

export const signingSecret = command({
  name: 'rules secret',
  usage: '--account NAME [--rotate] [--overlap TIME]',
  summary: 'Prints the secret that signs the webhooks of an account, and nothing else.',
  settings: [],
  options: {
    account: setting(text('a name', 'NAME'), undefined, 'Account of the secret.'),
    rotate: setting(toggle, 'false', 'Creates a new secret, and prints it.'),
    overlap: setting(
      duration,
      undefined,
      'How long the old secret also signs webhooks after --rotate. The default is 24h.',
    ),
  },
  audited: true,
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, options: { account, rotate, overlap }, print }) => {
    if (account === undefined) throw misused('Whose secret? Add --account NAME.')
    if (overlap !== undefined && !rotate) throw misused('--overlap belongs to --rotate.')
    const rules = services.openRules(config, { log, shutdown })
    print(rules.secret(account, rotate ? { overlapMs: overlap ?? DAY_MS } : undefined))
  },
})
