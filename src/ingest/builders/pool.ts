import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../lib/runtime.ts'
import type { Group } from './groups.ts'
import type { BuilderData, FromBuilder, ToBuilder } from './messages.ts'

/** Threads that build pieces of batches side by side. */
export interface Builders {
  /** Groups of lines with what was made of them, in their order, however many are under way. Nothing is made where it is of no use. */
  each(groups: AsyncIterable<Group>, isOfUse: () => boolean): AsyncIterable<BuiltGroup>
  /** Resolves when nothing is under way; what `each` gives next is begun later. */
  idle(): Promise<void>
  close(): Promise<void>
}

export interface BuiltGroup extends Group {
  built: FromBuilder
}

/** Groups that a thread has waiting besides the one that it builds. */
const WAITING = 1
/** Groups for each thread that are read, under way, or waiting for one before them. */
const AHEAD = 3

export const createBuilders = (count: number, data: BuilderData): Builders => {
  const threads = Array.from({ length: count }, () => createThread(data))
  const waiting: (() => void)[] = []
  const open = new Set<Promise<unknown>>()

  const build = async (group: Group): Promise<BuiltGroup> => {
    const free = () => threads.filter(thread => thread.asked() <= WAITING).sort((a, b) => a.asked() - b.asked())[0]
    while (!free()) await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return { ...group, built: await free()!.build(group) }
    } finally {
      waiting.shift()?.()
    }
  }

  const begin = (group: Group): Promise<BuiltGroup> => {
    const building = build(group)
    open.add(building)
    const done = () => void open.delete(building)
    // Handled when its turn comes, too: until then it must not count as unhandled.
    building.then(done, done)
    return building
  }

  return {
    async *each(groups, isOfUse) {
      const source = groups[Symbol.asyncIterator]()
      const under: Promise<BuiltGroup>[] = []
      let fault: { error: unknown } | undefined
      let over = false
      try {
        for (;;) {
          while (!over && under.length < count * AHEAD) {
            try {
              const next = await source.next()
              if (next.done) over = true
              else under.push(isOfUse() ? begin(next.value) : Promise.resolve({ ...next.value, built: undefined }))
            } catch (error) {
              // Told when what comes before it was taken.
              fault = { error }
              over = true
            }
          }
          const first = under.shift()
          if (first !== undefined) yield await first
          else if (fault) throw fault.error
          else return
        }
      } finally {
        await source.return?.()
      }
    },
    async idle() {
      await Promise.allSettled(open)
    },
    async close() {
      await Promise.all(threads.map(thread => thread.end()))
    },
  }
}

const createThread = (data: BuilderData) => {
  // As the thread that indexes has it.
  const worker: Worker = startWorker('builder', data, { resourceLimits: { maxYoungGenerationSizeMb: 96 } })
  const asked: { resolve(answer: FromBuilder): void; reject(error: Error): void }[] = []
  let failure: Error | undefined
  const fail = (error: Error) => {
    failure ??= error
    for (const { reject } of asked.splice(0)) reject(failure)
  }
  worker.on('message', (answer: FromBuilder) => asked.shift()?.resolve(answer))
  worker.on('error', fail)
  worker.on('exit', code => fail(new Error(`a thread that builds documents has ended, with code ${code}`)))
  return {
    asked: () => asked.length,
    build: ({ lines }: Group): Promise<FromBuilder> =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure)
        asked.push({ resolve, reject })
        worker.postMessage({ lines } satisfies ToBuilder)
      }),
    end: () => worker.terminate(),
  }
}
