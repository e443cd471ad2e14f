autocmd BufNewFile,BufRead *.tk setfiletype tk
