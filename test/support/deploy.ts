import { type Compiled, readCompiled } from './compiled.ts'

let compiled: Compiled[] | undefined
/** Runtime code of a contract that was compiled for tests, by its first settings unless others are named. */
export const codeOf = (name: string, by?: string): string => {
  compiled ??= readCompiled()
  return compiled.find(contract => contract.name === name && (by === undefined || contract.by === by))!.code
}

const word = (value: bigint | string): string =>
  typeof value === 'bigint'
    ? value.toString(16).padStart(64, '0')
    : // A short string, as Solidity stores it.
      `${Buffer.from(value).toString('hex').padEnd(62, '0')}${(value.length * 2).toString(16).padStart(2, '0')}`

/** Initialisation code that stores values, by the numbers of their slots, and leaves this runtime code behind. */
export const initCodeOf = (code: string, storage: Record<number | string, bigint | string> = {}): string => {
  const stores = Object.entries(storage)
    .map(([slot, value]) => `7f${word(value)}7f${word(BigInt(slot))}55`)
    .join('')
  const size = ((code.length - 2) / 2).toString(16).padStart(6, '0')
  const start = (stores.length / 2 + 14).toString(16).padStart(4, '0')
  return `0x${stores}62${size}8061${start}6000396000f3${code.slice(2)}`
}
