import { count, duration, port, text } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command, misused } from '../command.ts'
import type { ReceiveNews } from '../services.ts'
import { showText } from '../show.ts'

export const receive = command({
  name: 'receive',
  usage: '[--port PORT] [--account NAME | --secret SECRET] [--status CODE] [--delay TIME]',
  summary:
    'Receives webhooks on this machine to try alert rules with: prints what arrives, and checks its signature. The server must run with --allow-target 127.0.0.1/32.',
  settings: [],
  options: {
    port: setting(port, '8700', 'Port that the receiver listens on, at 127.0.0.1.'),
    account: setting(text('a name', 'NAME'), undefined, 'Account whose secret in the data folder signs the webhooks.'),
    secret: setting(text('a secret', 'SECRET'), undefined, 'Secret that signs the webhooks (whsec_…).'),
    status: setting(count(200, 599), '200', 'HTTP status to answer.'),
    delay: setting(duration, '0s', 'Time to wait before each answer.'),
  },
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, options, print }) => {
    const { port, account, secret: given, status, delay } = options
    if (account !== undefined && given !== undefined) throw misused('Give either --account or --secret.')
    const secret = account === undefined ? given : services.openRules(config, { log, shutdown }).secret(account)
    await services.receive(
      {
        ...{ port, secret, status, delayMs: delay },
        tell: news => print(config.json ? JSON.stringify(news) : show(news, secret !== undefined)),
      },
      { log, shutdown },
    )
  },
})

const show = (news: ReceiveNews, checks: boolean): string => {
  if (news.type === 'listening')
    return `Receives webhooks at ${news.url}${checks ? '' : '. Signatures are not checked: add --account or --secret'}.`
  const { method, path, headers, body, signature, fault } = news
  return [
    '',
    `${method} ${showText(path, 2_000)}`,
    ...headers.map(([name, value]) => `${name}: ${showText(value)}`),
    ...(signature === 'unchecked' ? [] : [`signature: ${signature}${fault === undefined ? '' : `, because ${fault}`}`]),
    ...(body === '' ? [] : [showBody(body)]),
  ].join('\n')
}

/** JSON as it is read best, other bodies on one line; nothing in them does something to a terminal. */
const showBody = (body: string): string => {
  try {
    const lines = JSON.stringify(JSON.parse(body), null, 2).split('\n')
    return lines.map(line => line.replace(/^( *)(.*)$/u, (_, space, rest) => space + showText(rest, 2_000))).join('\n')
  } catch {
    return showText(body, 2_000)
  }
}
