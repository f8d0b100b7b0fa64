import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Attack, type Try, tryEach } from './attack.ts'
import { type Judged, makeTemplates } from './damage-try.ts'

const TRIES = 2_000

/**
 * Damages one file of a data folder, or of a backup, in every state that a folder may be in, and goes on as the program does: what is answered is
 * right or an error, other networks go on, and a backup that was good stays so. Tries run in a process of their own, which a file that is cut may end.
 */
export const damage: Attack = {
  name: 'damage',
  is: 'damaged, lost and exchanged files of data folders and backups: told, or without a difference',
  async run(context) {
    const { seed, folder } = context
    const templates = join(folder, 'templates')
    await makeTemplates(templates)
    const outcomes: string[] = []
    const children = new Map<number, ChildProcess>()
    const childOf = (lane: number): ChildProcess => {
      const args = [templates, join(folder, `lane-${lane}`), String(seed)]
      const child =
        children.get(lane) ??
        fork(join(import.meta.dirname, 'damage-try.ts'), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
      children.set(lane, child)
      return child
    }
    const work = async ({ attempt, find }: Try, lane: number) => {
      const child = childOf(lane)
      child.send(attempt)
      const answer = await answerOf(child)
      if (typeof answer === 'string') {
        children.delete(lane)
        return find('damage ends the process', answer)
      }
      const { phase, outcome, broken, injury, how } = answer
      outcomes.push(`${phase}: ${outcome}`)
      for (const what of broken) find(what, `${phase}: ${injury}: ${how}`)
    }
    const made = await tryEach(context, TRIES, work, Math.min(LANES, availableParallelism()))
    for (const child of children.values()) {
      child.disconnect()
      await once(child, 'exit')
    }
    const notes = [...Map.groupBy(outcomes, it => it)].sort().map(([what, all]) => `${what} ${all.length}`)
    return { ...made, notes }
  },
}

const answerOf = (child: ChildProcess): Promise<Judged | string> =>
  new Promise(resolve => {
    const ended = (code: number | null, signal: string | null) => resolve(`the process ended: ${signal ?? code}`)
    child.once('exit', ended)
    child.once('message', answer => {
      child.off('exit', ended)
      resolve(answer as Judged)
    })
  })

const LANES = 2
