import type { AlertMessage } from './channel.ts'

/** One message for several, if they are a group. */
export const joinMessages = (messages: readonly AlertMessage[], group: string | undefined): AlertMessage => {
  const [first] = messages as readonly [AlertMessage]
  if (group === undefined) return first
  const timestamp = Math.max(...messages.map(it => it.timestamp))
  return { ...first, id: group, type: 'alert.group', timestamp, group: messages }
}
