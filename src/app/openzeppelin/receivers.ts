import { isRecord } from '../../lib/arrays.ts'
import type { Action, TargetType } from '../../rules/rule.ts'
import type { FilePart } from './file-part.ts'

/** The receiver of a trigger, for rules of a target; undefined, with the reason reported, if there is none. */
export const readReceiver = (
  trigger: FilePart,
  targetType: TargetType,
  env: Readonly<Record<string, string | undefined>>,
): Action | undefined => {
  const config = trigger.member('config')
  const type = trigger.member('trigger_type').text()
  const message = { message: translateTemplate(config.member('message').member('body'), targetType) ?? '' }
  const more = message.message === '' ? {} : message
  const secret = (name: string) => readSecret(config.member(name), env)
  const title = config.member('message').member('title')
  const lackTitle = () => title.text() && title.lack('only a chat has a title: put it into the message.')
  trigger.only(['name', 'trigger_type', 'config'])
  config.member('message').only(['title', 'body'])
  switch (type) {
    case 'slack': {
      config.only(['slack_url', 'webhook_url', 'message'])
      const url = secret('slack_url') ?? secret('webhook_url')
      const parameters = { url: url ?? '', text: title.text() ?? '', channel: '', username: '' }
      return url === undefined ? undefined : { type: 'Chat', parameters, ...more }
    }
    case 'discord': {
      config.only(['discord_url', 'message'])
      lackTitle()
      const url = secret('discord_url')
      return url === undefined ? undefined : { type: 'Discord', parameters: { url }, ...more }
    }
    case 'telegram': {
      config.only(['token', 'chat_id', 'message'])
      lackTitle()
      const [token, chat] = [secret('token'), config.member('chat_id').text()]
      if (chat === undefined) config.member('chat_id').lack('the chat is missing.')
      if (token === undefined || chat === undefined) return undefined
      return { type: 'Telegram', parameters: { token, chat }, ...more }
    }
    case 'email': {
      for (const name of ['host', 'port', 'username', 'password', 'sender'])
        if (config.member(name).value !== undefined)
          config.member(name).lack('it is a setting of the server: --smtp and --mail-from.')
      config.only(['host', 'port', 'username', 'password', 'sender', 'recipients', 'message'])
      lackTitle()
      const recipients = config
        .member('recipients')
        .elements()
        .flatMap(it => it.text() ?? [])
      return { type: 'Email', parameters: { recipients }, ...more }
    }
    case 'webhook': {
      config.only(['url', 'method', 'message', 'secret', 'headers'])
      lackTitle()
      for (const name of ['secret', 'headers'])
        if (config.member(name).value !== undefined && config.member(name).value !== null)
          config.member(name).lack('messages are signed as Standard Webhooks and have no other headers.')
      const [url, method] = [secret('url'), config.member('method').text() ?? 'POST']
      if (url === undefined) return undefined
      if (method !== 'POST' && method !== 'GET')
        return void config.member('method').lack('there are only GET and POST.')
      return { type: `Webhook (${method})`, parameters: { url }, ...more }
    }
    default:
      return void trigger.member('trigger_type').lack(`${JSON.stringify(type ?? null)} has no counterpart.`)
  }
}

/** A text, or a secret that the file or the environment has. */
const readSecret = (part: FilePart, env: Readonly<Record<string, string | undefined>>): string | undefined => {
  const { value } = part
  if (value === undefined || typeof value === 'string') return value
  const kind = isRecord(value) ? String(value.type).toLowerCase() : ''
  const name = part.member('value').text()
  if (kind === 'plain') return name
  if (kind !== 'environment' || name === undefined) return void part.lack('write the value itself into the rule.')
  const found = env[name]
  if (found === undefined) part.lack(`the environment has no ${name}: set it, and import again.`)
  return found
}

const TEMPLATE_TRANSACTION: Partial<Record<TargetType, Record<string, string>>> = {
  Transaction: { hash: 'hash', from: 'from', to: 'to', value: 'value', nonce: 'nonce' },
  Event: { hash: 'transactionHash' },
  Method: { hash: 'transactionHash', from: 'from', to: 'to', value: 'value' },
}
const TEMPLATE_LISTS: Partial<Record<TargetType, string>> = { Event: 'events', Method: 'functions' }

/** A template with our tokens; those without counterpart are reported and stay. */
const translateTemplate = (body: FilePart, targetType: TargetType): string | undefined =>
  body.text()?.replace(/\$\{([^{}]*)\}/g, (token, written: string) => {
    const path = written
      .trim()
      .replace(/^(event|function)_(\d+)_/, '$1s.$2.args.')
      .replace(/^(transaction|monitor)_/, '$1.')
    const [list, index, what, ...name] = path.split('.')
    if (path === 'monitor.name') return '{$rule}'
    const field = list === 'transaction' ? TEMPLATE_TRANSACTION[targetType]?.[index ?? ''] : undefined
    if (field !== undefined) return `{${field}}`
    if (list === TEMPLATE_LISTS[targetType] && index === '0' && what === 'args' && /^\w+$/.test(name.join('.')))
      return `{args.${name.join('.')}}`
    if (list === TEMPLATE_LISTS[targetType] && index === '0' && what === 'signature')
      return targetType === 'Event' ? '{event}' : '{method}'
    body.lack(`${token} has no counterpart for a rule on ${targetType}.`)
    return written
  })
