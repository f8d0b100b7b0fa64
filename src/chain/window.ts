/** What the outcome of a request says about the load that the other side can bear. */
export type Outcome = 'ok' | 'overload' | 'neutral'

/**
 * Bounds the requests in flight and adapts the bound by additive increase and multiplicative decrease: a whole window of good
 * answers widens it by one, an overload halves it. Requests that were under way when it was cut do not cut it again.
 */
export interface Window {
  /** Requests that may be in flight. */
  readonly size: number
  /** Waits for a place, before all others where it is urgent. The function that comes back gives it up and must be called once. */
  enter(signal: AbortSignal, urgent?: boolean): Promise<(outcome: Outcome) => void>
}

export const createWindow = ({ start, max }: { start: number; max: number }): Window => {
  let size = Math.min(start, max)
  let active = 0
  let entered = 0
  let cutAt = -1
  const waiting: (() => void)[] = []

  const admit = () => {
    while (active < Math.floor(size) && waiting.length > 0) {
      active++
      waiting.shift()!()
    }
  }
  const leave = (ticket: number) => (outcome: Outcome) => {
    active--
    if (outcome === 'ok') size = Math.min(max, size + 1 / size)
    if (outcome === 'overload' && ticket > cutAt) {
      size = Math.max(1, size / 2)
      cutAt = entered
    }
    admit()
  }
  return {
    get size() {
      return Math.floor(size)
    },
    async enter(signal, urgent = false) {
      signal.throwIfAborted()
      if (active < Math.floor(size)) active++
      else {
        await new Promise<void>((resolve, reject) => {
          const place = () => {
            signal.removeEventListener('abort', abort)
            resolve()
          }
          const abort = () => {
            waiting.splice(waiting.indexOf(place), 1)
            reject(signal.reason)
          }
          if (urgent) waiting.unshift(place)
          else waiting.push(place)
          signal.addEventListener('abort', abort, { once: true })
        })
      }
      return leave(++entered)
    },
  }
}
