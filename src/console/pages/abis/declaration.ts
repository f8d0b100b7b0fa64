import { at, type Json, member, textAt } from '../../api/json.ts'

/** An entry of an ABI as Solidity writes it, such as `event Transfer(address indexed from, uint256 value)`. */
export const declarationOf = (entry: Json): string => {
  const kind = textAt(entry, 'type') ?? 'function'
  const name = textAt(entry, 'name') ?? ''
  const mutability = textAt(entry, 'stateMutability')
  const outputs = listOf(at(entry, 'outputs'))
  return [
    `${kind}${name && ` ${name}`}(${parametersOf(at(entry, 'inputs'))})`,
    mutability === undefined || mutability === 'nonpayable' ? '' : mutability,
    member(entry, 'anonymous') === true ? 'anonymous' : '',
    outputs.length > 0 ? `returns (${parametersOf(outputs)})` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

const parametersOf = (value: Json | undefined): string =>
  listOf(value)
    .map(it =>
      [typeOf(it), member(it, 'indexed') === true ? 'indexed' : '', textAt(it, 'name') ?? ''].filter(Boolean).join(' '),
    )
    .join(', ')

/** `tuple[]` with its components is `(address, uint256)[]`. */
const typeOf = (parameter: Json): string => {
  const type = textAt(parameter, 'type') ?? ''
  return type.startsWith('tuple') ? `(${parametersOf(at(parameter, 'components'))})${type.slice('tuple'.length)}` : type
}
