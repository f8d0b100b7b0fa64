import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { Question } from '../../../chain/blocks/read-blocks.ts'
import { type BlockFile, readBlockLines } from '../../../chain/files/block-files.ts'
import { CHUNK_BYTES, type PackLine, type PackOptions } from '../../../chain/files/pack.ts'
import type { EncodedBlocks } from '../../../engine/documents/block-encoder.ts'
import { startWorker } from '../../../lib/runtime.ts'
import type { BuilderData, Built, FromBuilder, ReadBlocks, ToBuilder } from './thread.ts'

export type Builders = ReturnType<typeof createBuilders>

export interface BuiltGroup extends LineGroup {
  built: Built | undefined
}

export interface ReadAnswer extends ReadBlocks {
  build(decimals: ReadonlyMap<string, number>): Promise<EncodedBlocks | undefined>
  giveBack(): Promise<Uint8Array>
  drop(): void
}

const MAX_WAITING_GROUPS = 1
const AHEAD = 3
const BUILDER_END_MS = 1000

export const createBuilders = (count: number, data: BuilderData) => {
  const threads = Array.from({ length: count }, () => createThread(data))
  const waiting: (() => void)[] = []
  const open = new Set<Promise<unknown>>()

  const build = async (group: LineGroup): Promise<BuiltGroup> => {
    const free = () =>
      threads.filter(thread => thread.asked() <= MAX_WAITING_GROUPS).sort((a, b) => a.asked() - b.asked())[0]
    while (!free()) await new Promise<void>(resolve => waiting.push(resolve))
    try {
      const built = await free()!.ask<Built | undefined>({ type: 'lines', lines: group.lines })
      return { ...group, built }
    } finally {
      waiting.shift()?.()
    }
  }

  const track = <T>(building: Promise<T>): Promise<T> => {
    open.add(building)
    const done = () => void open.delete(building)
    // A later turn handles the rejection; until then it must not count as unhandled.
    building.then(done, done)
    return building
  }
  const begin = (group: LineGroup): Promise<BuiltGroup> => track(build(group))

  const holds = new Map(threads.map(thread => [thread, 0]))
  let ids = 0
  const read = async (body: Uint8Array, question: Question): Promise<ReadAnswer | Uint8Array> => {
    const [thread] = [...holds].reduce((least, next) => (next[1] < least[1] ? next : least))
    const hold = (by: number) => holds.set(thread, holds.get(thread)! + by)
    const id = ++ids
    hold(1)
    const found = await thread.ask<ReadBlocks | Uint8Array>({ type: 'read', id, body, question }, [
      body.buffer as ArrayBuffer,
    ])
    if (found instanceof Uint8Array) {
      hold(-1)
      return found
    }
    return {
      ...found,
      build: decimals => track(thread.ask<EncodedBlocks | undefined>({ type: 'build', id, decimals })),
      giveBack() {
        hold(-1)
        return thread.ask<Uint8Array>({ type: 'giveBack', id })
      },
      drop() {
        hold(-1)
        // An ended thread has nothing to free.
        thread.ask({ type: 'drop', id }).catch(() => {})
      },
    }
  }

  return {
    /** Groups of lines in order, with built pieces where they are of use. */
    async *each(groups: AsyncIterable<LineGroup>, isOfUse: () => boolean) {
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
    read,
    threads: count,
    async idle() {
      await Promise.allSettled(open)
    },
    async close() {
      await Promise.all(threads.map(thread => thread.end()))
    },
  }
}

const createThread = (data: BuilderData) => {
  const worker: Worker = startWorker('builder', data, { resourceLimits: { maxYoungGenerationSizeMb: data.youngMb } })
  // Each answer is of the type that its message asks for.
  const all: { resolve(answer: never): void; reject(error: Error): void }[] = []
  let failure: Error | undefined
  let last = () => {}
  const fail = (error: Error) => {
    failure ??= error
    for (const { reject } of all.splice(0)) reject(failure)
    last()
  }
  worker.on('message', (answer: FromBuilder) => {
    all.shift()?.resolve(answer as never)
    if (all.length === 0) last()
  })
  worker.on('error', fail)
  worker.on('exit', code => fail(new Error(`a builder thread ended with code ${code}`)))
  return {
    asked: () => all.length,
    ask: <T extends FromBuilder>(message: ToBuilder, moved: ArrayBuffer[] = []): Promise<T> =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure)
        all.push({ resolve, reject })
        worker.postMessage(message, moved)
      }),
    /** Waits for pending answers: the thread must not end while it has locks that others need. */
    async end() {
      failure ??= new Error('the thread that builds documents is ended')
      const asked = new Promise<void>(resolve => {
        if (all.length === 0) resolve()
        else last = resolve
      })
      await Promise.race([asked, sleep(BUILDER_END_MS, undefined, { ref: false })])
      await worker.terminate()
    },
  }
}

/** Neighbouring lines of a pack to build together, in shared memory. */
export interface LineGroup {
  lines: PackLine[]
  release(): void
}

/** Reads files group by group; reuses buffers, since allocating takes longer than filling. */
export const createGroupReader = (most: number, bytes = CHUNK_BYTES) => {
  const free: SharedArrayBuffer[] = []

  const openMemory = (size: number) => {
    const buffer = size > bytes ? new SharedArrayBuffer(size) : (free.pop() ?? new SharedArrayBuffer(bytes))
    let groups = 0
    let isFull = false
    const settle = () => {
      if (isFull && groups === 0 && buffer.byteLength === bytes) free.push(buffer)
    }
    return {
      buffer,
      group(lines: PackLine[]): LineGroup {
        groups++
        return {
          lines,
          release() {
            groups--
            settle()
          },
        }
      },
      fill() {
        isFull = true
        settle()
      },
    }
  }

  return async function* read(
    file: BlockFile,
    options: Omit<PackOptions, 'allocate' | 'chunkBytes'>,
  ): AsyncGenerator<LineGroup> {
    let memory = openMemory(bytes)
    let used = 0
    let lines: PackLine[] = []
    let full: LineGroup | undefined
    const close = (): LineGroup | undefined => {
      const group = lines.length === 0 ? undefined : memory.group(lines)
      lines = []
      return group
    }
    const allocate = (size: number): Uint8Array => {
      if (used + size > memory.buffer.byteLength) {
        full = close() ?? full
        memory.fill()
        memory = openMemory(size)
        used = 0
      }
      used += size
      return new Uint8Array(memory.buffer, used - size, size)
    }
    const rest = () => {
      const groups = [full, close()].filter(group => group !== undefined)
      memory.fill()
      return groups
    }

    try {
      for await (const line of readBlockLines(file, { ...options, allocate, chunkBytes: bytes })) {
        const before = full
        full = undefined
        lines.push(line)
        const now = lines.length >= most ? close() : undefined
        if (before) yield before
        if (now) yield now
      }
    } catch (error) {
      yield* rest()
      throw error
    }
    yield* rest()
  }
}
