import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Attack, Finding } from './attack.ts'
import { type Judged, makeTemplates } from './damage-try.ts'

const TRIES = 2_000

/**
 * Damages one file of a data folder, or of a backup, in every state that a folder may be in, and goes on as the program does: what is answered is
 * right or an error, other networks go on, and a backup that was good stays so. Tries run in a process of their own, which a file that is cut may end.
 */
export const damage: Attack = {
  name: 'damage',
  is: 'damaged, lost and exchanged files of data folders and backups: told, or without a difference',
  async run({ seed, tries, folder }) {
    const templates = join(folder, 'templates')
    await makeTemplates(templates)
    const findings: Finding[] = []
    const counts = new Map<string, number>()
    let [made, worstMs] = [0, 0]
    const numbers = tries(TRIES)[Symbol.iterator]()
    const work = async (lane: number) => {
      let child: ChildProcess | undefined
      for (;;) {
        const { done, value: attempt } = numbers.next()
        if (done) break
        child ??= fork(
          join(import.meta.dirname, 'damage-try.ts'),
          [templates, join(folder, `lane-${lane}`), String(seed)],
          {
            stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
          },
        )
        const start = performance.now()
        child.send(attempt)
        const answer = await answerOf(child)
        worstMs = Math.max(worstMs, performance.now() - start)
        made++
        if (typeof answer === 'string') {
          child = undefined
          findings.push({ what: 'damage ends the process', attempt, how: answer })
          continue
        }
        counts.set(`${answer.phase}: ${answer.outcome}`, (counts.get(`${answer.phase}: ${answer.outcome}`) ?? 0) + 1)
        for (const what of answer.broken)
          findings.push({ what, attempt, how: `${answer.phase}: ${answer.injury}: ${answer.how}` })
      }
      if (child) {
        child.disconnect()
        await once(child, 'exit')
      }
    }
    await Promise.all(Array.from({ length: Math.min(LANES, availableParallelism()) }, (_, lane) => work(lane)))
    const notes = [...counts].sort().map(([what, count]) => `${what} ${count}`)
    return { tries: made, findings, worstMs, notes }
  },
}

/** A text of a process that ended. */
const answerOf = (child: ChildProcess): Promise<Judged | string> =>
  new Promise(resolve => {
    const ended = (code: number | null, signal: string | null) => resolve(`the process ended: ${signal ?? code}`)
    child.once('exit', ended)
    child.once('message', answer => {
      child.off('exit', ended)
      resolve(answer as Judged)
    })
  })

/** Processes that try at once. */
const LANES = 2
