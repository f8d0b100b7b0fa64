import { duration, text, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { command, misused } from '../../command.ts'

const DAY_MS = 86_400_000

export const signingSecret = command({
  name: 'rules secret',
  usage: '--account NAME [--rotate] [--overlap TIME]',
  summary: "Prints the secret by which an account's webhooks are signed, and nothing else.",
  settings: [],
  options: {
    account: setting(text('a name', 'NAME'), undefined, 'The account that the secret is of.'),
    rotate: setting(toggle, 'false', 'Makes a new secret, and prints that.'),
    overlap: setting(
      duration,
      undefined,
      'How long webhooks are signed by the old secret, too, after --rotate; by default 24h.',
    ),
  },
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, options: { account, rotate, overlap }, print }) => {
    if (account === undefined) throw misused('Whose secret? Add --account NAME.')
    if (overlap !== undefined && !rotate) throw misused('--overlap belongs to --rotate.')
    const rules = services.openRules(config, { log, shutdown })
    print(rules.secret(account, rotate ? { overlapMs: overlap ?? DAY_MS } : undefined))
  },
})
