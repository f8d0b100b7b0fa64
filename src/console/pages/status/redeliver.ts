import { ask, messageOf } from '../../api/client.ts'
import { confirm } from '../../parts/dialog.tsx'
import { announce } from '../../parts/toast.tsx'
import { plain } from '../../parts/visible.ts'

/** What goes out cannot be called back: asks before. */
export const sendDeadAgain = async (where: { channel: string; target: string }, name: string, count: number) => {
  const isSure = await confirm({
    title: 'Send dead deliveries again?',
    text: `${plain(name)} will get ${count.toLocaleString()} ${count === 1 ? 'message' : 'messages'}. This cannot be undone.`,
    action: 'Send again',
  })
  if (isSure) await redeliver({ ...where, dead: true })
}

export const sendAgain = async (delivery: number, target: string) => {
  const isSure = await confirm({
    title: 'Send this delivery again?',
    text: `${plain(target)} will get this message once more. This cannot be undone.`,
    action: 'Send again',
  })
  if (isSure) await redeliver({ delivery })
}

const redeliver = async (body: object) => {
  try {
    const { redelivered } = await ask<{ redelivered: number }>('alerting/deliveries/redeliver', { body })
    announce(
      redelivered === 0
        ? 'Nothing is to be sent again: it was sent meanwhile, or a retraction replaced it.'
        : `${redelivered.toLocaleString()} ${redelivered === 1 ? 'delivery' : 'deliveries'} will be sent again.`,
    )
  } catch (error) {
    announce(messageOf(error), 'error')
  }
}
