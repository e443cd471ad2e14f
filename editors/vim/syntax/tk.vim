" Highlighting of .tk files. Copy editors/vim/* to ~/.vim. The words are put in by
" tests/honesty/editor_words.py.
if exists("b:current_syntax")
  finish
endif

syntax keyword tkKeyword WORDS keyword
syntax keyword tkConstant WORDS constant
syntax keyword tkType WORDS dtype
syntax keyword tkFunction WORDS function
syntax match tkAccess /\<\%(in\|out\|inout\|scratch\)\>\ze\s\+\h\w*\s*:/
syntax match tkAttribute /@\h\w*/
syntax match tkNumber /\<\%(0[xX][0-9A-Fa-f_]\+\|0[bB][01_]\+\|0[oO][0-7_]\+\|\d[0-9_]*\%(\.\d[0-9_]*\)\?\%([eE][+-]\?\d\+\)\?\)\>/
syntax region tkString start=/"/ skip=/\\./ end=/"\|$/
syntax match tkComment /#.*$/

highlight default link tkKeyword Keyword
highlight default link tkConstant Constant
highlight default link tkType Type
highlight default link tkFunction Function
highlight default link tkAccess StorageClass
highlight default link tkAttribute PreProc
highlight default link tkNumber Number
highlight default link tkString String
highlight default link tkComment Comment

setlocal commentstring=#\ %s
let b:current_syntax = "tk"
